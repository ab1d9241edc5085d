#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/ledger/timeline.h"
#include "tests/unit/ledger/sample_entries.h"

namespace fourhold::ledger {
namespace {

// 2 x 3 values of bf16 are 12 bytes; two of four copies at the peak are 24.
constexpr const char* kText = R"({
  "schema": "fourhold.ledger/1",
  "live_peak_bytes": 24,
  "reserved_bytes": 64,
  "peak_step": "backward of layer 2",
  "entries": [
    {
      "key": "layer.2.norm1_out.gradient@mb1",
      "category": "activation_gradient",
      "place": "device",
      "shape": [
        2,
        3
      ],
      "dtype": "bf16",
      "bytes": 12,
      "copies": 4,
      "copies_at_peak": 2,
      "first_step": 5,
      "last_step": 8
    }
  ]
})";

Ledger read(const std::string& text) {
  return ledger_from_json(json::parse(text, "a.json"), "a.json");
}

// The text with its only "from" replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kText;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// "where | what | hint" of the Error.
std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    return error.where() + " | " + error.what() + " | " + error.hint();
  }
  return "no fault";
}

TEST(LedgerJson, ACopyKeepsItsKeysWhenTheOriginalIsGone) {
  Ledger copy;
  {
    const Ledger original = read(kText);
    copy = original;
    EXPECT_EQ(copy.pool.get(), original.pool.get());
  }
  ASSERT_EQ(copy.pool.use_count(), 1);
  ASSERT_EQ(copy.pool->size(), 1U);
  EXPECT_EQ(to_string(copy.entries[0].key), "layer.2.norm1_out.gradient@mb1");
  // The key is a view of the text that the copy itself holds alive.
  EXPECT_EQ(copy.entries[0].key.block.data(), copy.pool->front().data());
}

TEST(LedgerJson, EveryFieldIsReadIntoItsPlace) {
  const Ledger ledger = read(kText);
  EXPECT_EQ(ledger.live_peak_bytes, Bytes(24));
  EXPECT_EQ(ledger.reserved_bytes, Bytes(64));
  EXPECT_EQ(ledger.peak_step, "backward of layer 2");
  ASSERT_EQ(ledger.entries.size(), 1U);
  const Entry& entry = ledger.entries[0];
  EXPECT_EQ(entry.key, (Key{.block = "layer",
                            .name = "norm1_out",
                            .layer = 2,
                            .micro_batch = 1,
                            .role = Role::gradient}));
  EXPECT_EQ(entry.category, Category::activation_gradient);
  EXPECT_EQ(entry.place, Place::device);
  EXPECT_EQ(entry.shape, (Dims{2, 3}));
  EXPECT_EQ(entry.dtype, DType::bf16);
  EXPECT_EQ(entry.bytes, Bytes(12));
  EXPECT_EQ(entry.copies, 4);
  EXPECT_EQ(entry.copies_at_peak, 2);
  EXPECT_EQ(entry.first_step, 5);
  EXPECT_EQ(entry.last_step, 8);
}

TEST(LedgerJson, WritingGivesTheSameTextAgain) {
  EXPECT_EQ(json::write(to_json(read(kText))), kText);
}

TEST(LedgerJson, TextsOfKeysOutliveTheFile) {
  Ledger moved;
  {
    Ledger ledger = read(kText);
    moved = std::move(ledger);
  }
  EXPECT_EQ(to_string(moved.entries[0].key), "layer.2.norm1_out.gradient@mb1");
}

TEST(LedgerJson, AFieldThatIsNotKnownIsRefused) {
  EXPECT_EQ(fault_of(with("\"copies\": 4", "\"colour\": 1, \"copies\": 4")),
            "a.json: entries[0].colour | is not a known field | remove it");
  EXPECT_EQ(fault_of(with("\"reserved_bytes\": 64", "\"reserved_bytes\": 64, \"entrys\": []")),
            "a.json: entrys | is not a known field | did you mean 'entries'?");
}

TEST(LedgerJson, AnEntryWithoutValuesIsRead) {
  EXPECT_EQ(fault_of(with("\"reserved_bytes\": 64", "\"reserved_bytes\": 0")), "no fault");
  const Ledger ledger = read(R"({"schema": "fourhold.ledger/1", "live_peak_bytes": 0,
      "reserved_bytes": 0, "peak_step": "", "entries": []})");
  EXPECT_TRUE(ledger.entries.empty());
}

TEST(LedgerJson, FaultsOfTheWholeAreNamed) {
  EXPECT_EQ(fault_of("[]"), "a.json | must be an object, not an array | write an object there");
  EXPECT_EQ(fault_of(with("ledger/1", "ledger/2")),
            "a.json: schema | 'fourhold.ledger/2' is not a ledger this version reads | "
            "it must be 'fourhold.ledger/1'");
  EXPECT_EQ(fault_of(with("\"live_peak_bytes\": 24", "\"live_peak_bytes\": 36")),
            "a.json: live_peak_bytes | is 36, but the device entries alive at the peak add up to 24"
            " | correct it, or copies_at_peak of the entries");
  EXPECT_EQ(fault_of(with("\"reserved_bytes\": 64", "\"reserved_bytes\": -1")),
            "a.json: reserved_bytes | is -1; it must be at least 0 | "
            "the nearest valid value is 0");
  EXPECT_EQ(fault_of(with("\"entries\"", "\"entry\"")),
            "a.json: entries | is missing | write [] for an empty ledger");
}

TEST(LedgerJson, FaultsOfAnEntryNameItsPath) {
  EXPECT_EQ(fault_of(with("layer.2.norm1_out.gradient@mb1", "layer")),
            "a.json: entries[0].key | 'layer' is not a key: the name behind the block is missing | "
            "keys look like 'layer.3.q_weight', 'layer.3.norm1_out.gradient@mb2', 'head.logits'");
  EXPECT_EQ(fault_of(with("\"activation_gradient\"", "\"activation_gradeint\"")),
            "a.json: entries[0].category | 'activation_gradeint' is not a category | "
            "did you mean 'activation_gradient'?");
  EXPECT_EQ(fault_of(with("\"device\"", "\"moon\"")),
            "a.json: entries[0].place | 'moon' is not a place | use one of: device, host, shared");
  EXPECT_EQ(fault_of(with("\"bf16\"", "\"bf-16\"")),
            "a.json: entries[0].dtype | 'bf-16' is not a dtype | did you mean 'bf16'?");
  EXPECT_EQ(fault_of(with("\"shape\"", "\"sahpe\"")),
            "a.json: entries[0].shape | is missing | write [] for a single value");
  EXPECT_EQ(fault_of(with("3\n      ]", "3, 1, 1, 1]")),
            "a.json: entries[0].shape | has 5 dimensions | "
            "at most 4 are possible: join the outer ones");
  EXPECT_EQ(fault_of(with("3\n      ]", "-3]")),
            "a.json: entries[0].shape[1] | is -3; it must be at least 0 | "
            "the nearest valid value is 0");
  EXPECT_EQ(fault_of(with("3\n      ]", "9223372036854775807]")),
            "a.json: entries[0].shape: size | a product of sizes leaves the 64-bit range | "
            "use smaller dimensions");
  EXPECT_EQ(fault_of(with("\"bytes\": 12", "\"bytes\": 1.5")),
            "a.json: entries[0].bytes | must be an integer, not 1.5 | write a whole number there");
  EXPECT_EQ(fault_of(with("\"bytes\": 12", "\"bytes\": 9223372036854775807")),
            "a.json: entries[0].bytes: size | a product of sizes leaves the 64-bit range | "
            "use smaller dimensions");
  EXPECT_EQ(fault_of(with("\"copies\": 4", "\"copies\": 0")),
            "a.json: entries[0].copies | is 0; it must be at least 1 | "
            "the nearest valid value is 1");
  EXPECT_EQ(fault_of(with("\"copies_at_peak\": 2", "\"copies_at_peak\": 5")),
            "a.json: entries[0].copies_at_peak | is 5; it must be from 0 to 4 | "
            "the nearest valid value is 4");
  EXPECT_EQ(fault_of(with("\"first_step\": 5", "\"first_step\": -1")),
            "a.json: entries[0].first_step | is -1; it must be from 0 to 9223372036854775806 | "
            "the nearest valid value is 0");
  EXPECT_EQ(fault_of(with("\"last_step\": 8", "\"last_step\": 4")),
            "a.json: entries[0].last_step | is 4; it must be from 5 to 9223372036854775806 | "
            "the nearest valid value is 5");
}

TEST(LedgerJson, MoreThanAMillionEntriesAreRefused) {
  json::Array entries(1'000'001);
  const json::Value value = json::Object{{"schema", "fourhold.ledger/1"},
                                         {"live_peak_bytes", 0},
                                         {"reserved_bytes", 0},
                                         {"peak_step", ""},
                                         {"entries", std::move(entries)}};
  try {
    static_cast<void>(ledger_from_json(value, "a.json"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "a.json: entries");
    EXPECT_STREQ(error.what(), "holds 1000001 entries");
    EXPECT_EQ(error.hint(), "at most 1000000 are read: write the compact form");
  }
}

RC_GTEST_PROP(LedgerJson, EveryLedgerIsReadBackUnchanged, ()) {
  Ledger ledger;
  ledger.entries = random_entries();
  for (Entry& entry : ledger.entries) {
    entry.copies = random_integer(1, 5);
    entry.copies_at_peak = random_integer(0, entry.copies);
  }
  for (const Bytes bytes : ledger.at_peak_by_category()) ledger.live_peak_bytes += bytes;
  ledger.peak_step = *rc::gen::element<std::string>("", "forward \"x\" \\ 1",
                                                    "r\xC3\xBC"
                                                    "ckw\n");
  const std::string text = json::write(to_json(ledger));
  const Ledger again = read(text);
  RC_ASSERT(again.peak_step == ledger.peak_step);
  RC_ASSERT(again.entries.size() == ledger.entries.size());
  for (std::size_t i = 0; i < ledger.entries.size(); ++i) {
    RC_ASSERT(again.entries[i].key == ledger.entries[i].key);
  }
  RC_ASSERT(json::write(to_json(again)) == text);
}

}  // namespace
}  // namespace fourhold::ledger

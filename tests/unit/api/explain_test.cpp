#include "fourhold/api/explain.h"

#include <gtest/gtest.h>

#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/json_keys.h"

namespace fourhold::api {
namespace {

ExplainRequest gpt2() {
  ExplainRequest request;
  request.run.model = "gpt2";
  request.run.plan.seq = 256;
  return request;
}

TEST(Explain, TheEntriesAddUpToThePeak) {
  const json::Value value = to_json(explain(gpt2()));
  std::int64_t sum = 0;
  for (const json::Value& entry : value.find("entries")->array()) {
    sum += entry.find("bytes_at_peak")->integer();
  }
  EXPECT_EQ(sum, value.find("peak")->find("bytes")->integer());
}

TEST(Explain, ListsEveryEntryOnceLargestFirst) {
  const ExplainResult result = explain(gpt2());
  ASSERT_EQ(result.order.size(), result.ledger().entries.size());
  std::vector<bool> seen(result.order.size(), false);
  std::int64_t before = INT64_MAX;
  for (const std::size_t index : result.order) {
    EXPECT_FALSE(seen[index]);
    seen[index] = true;
    const ledger::Entry& entry = result.ledger().entries[index];
    const std::int64_t bytes = entry.bytes.count() * entry.copies_at_peak;
    EXPECT_LE(bytes, before);
    before = bytes;
  }
}

TEST(Explain, TakesTheFullestStageUnlessOneIsNamed) {
  ExplainRequest request = gpt2();
  request.run.plan.pp = 2;
  const ExplainResult fullest = explain(request);
  EXPECT_EQ(fullest.stage, fullest.planned.memory.peak_stage);
  request.stage = 0;
  EXPECT_EQ(explain(request).stage, 0);
  request.stage = 2;
  const Refusal refusal = refusal_of([&] { static_cast<void>(explain(request)); });
  EXPECT_EQ(refusal.where, "--stage");
  EXPECT_TRUE(holds(refusal.hint, "0 to 1"));
}

TEST(Explain, ItsJsonHasTheseMembers) {
  EXPECT_EQ(keys_of(to_json(explain(gpt2()))),
            (std::vector<std::string>{"schema text",
                                      "model.name text",
                                      "model.parameters integer",
                                      "model.active_parameters integer",
                                      "plan object",
                                      "chosen list",
                                      "stage integer",
                                      "peak.bytes integer",
                                      "peak.step text",
                                      "entries[].name text",
                                      "entries[].category text",
                                      "entries[].place text",
                                      "entries[].shape list",
                                      "entries[].dtype text",
                                      "entries[].bytes integer",
                                      "entries[].copies integer",
                                      "entries[].copies_at_peak integer",
                                      "entries[].bytes_at_peak integer",
                                      "entries[].bytes_held integer",
                                      "entries[].why text",
                                      "ledger.schema text",
                                      "ledger.live_peak_bytes integer",
                                      "ledger.reserved_bytes integer",
                                      "ledger.peak_step text",
                                      "ledger.entries[].key text",
                                      "ledger.entries[].category text",
                                      "ledger.entries[].place text",
                                      "ledger.entries[].shape list",
                                      "ledger.entries[].dtype text",
                                      "ledger.entries[].bytes integer",
                                      "ledger.entries[].copies integer",
                                      "ledger.entries[].copies_at_peak integer",
                                      "ledger.entries[].first_step integer",
                                      "ledger.entries[].last_step integer",
                                      "notes list"}));
}

TEST(Explain, ItsTextNamesEveryEntryAndStaysOnTheScreen) {
  const ExplainResult result = explain(gpt2());
  const std::string text = to_text(result, report::Screen{.columns = 100});
  for (const ledger::Entry& entry : result.ledger().entries) {
    EXPECT_TRUE(holds(text, to_string(entry.key))) << to_string(entry.key);
  }
  std::istringstream in(to_text(result, report::Screen{}));
  for (std::string line; std::getline(in, line);) EXPECT_LE(report::columns_of(line), 80) << line;
}

}  // namespace
}  // namespace fourhold::api

#include "fourhold/api/compare.h"

#include <gtest/gtest.h>

#include "fourhold/api/explain.h"
#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/json_keys.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

std::string explained(std::int64_t seq) {
  ExplainRequest request;
  request.run.model = "gpt2";
  request.run.plan.seq = seq;
  return json::write(to_json(explain(request)));
}

TEST(Compare, FindsALedgerEqualToItself) {
  const TestFolder folder;
  const std::string file = folder.write("a.json", explained(64));
  const CompareResult result = compare({file, file});
  EXPECT_TRUE(result.comparison.is_equal());
  EXPECT_TRUE(holds(to_text(result, report::Screen{}), "The ledgers are equal"));
}

TEST(Compare, TakesTheLedgerAloneToo) {
  const TestFolder folder;
  const json::Value whole = json::parse(explained(64), "a");
  const std::string a = folder.write("a.json", json::write(whole));
  const std::string b = folder.write("b.json", json::write(*whole.find("ledger")));
  EXPECT_TRUE(compare({a, b}).comparison.is_equal());
}

TEST(Compare, ListsWhatDiffers) {
  const TestFolder folder;
  const CompareResult result =
      compare({folder.write("a.json", explained(64)), folder.write("b.json", explained(128))});
  EXPECT_FALSE(result.comparison.is_equal());
  const std::string text = to_text(result, report::Screen{});
  EXPECT_TRUE(holds(text, "The ledgers differ"));
  EXPECT_TRUE(holds(text, "head.logits"));
  EXPECT_TRUE(holds(text, "shape"));
  EXPECT_FALSE(holds(text, "q_weight.master"));
}

TEST(Compare, ItsJsonHasTheseMembers) {
  const TestFolder folder;
  const std::string file = folder.write("a.json", explained(64));
  std::vector<std::string> keys;
  for (const std::string& key : keys_of(to_json(compare({file, file})))) {
    if (key.rfind("by_category.", 0) != 0) keys.push_back(key);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"schema text",
                                            "equal boolean",
                                            "entries_a integer",
                                            "entries_b integer",
                                            "entries_differing integer",
                                            "total_bytes.a integer",
                                            "total_bytes.b integer",
                                            "total_bytes.difference integer",
                                            "live_peak_bytes.a integer",
                                            "live_peak_bytes.b integer",
                                            "live_peak_bytes.difference integer",
                                            "reserved_bytes.a integer",
                                            "reserved_bytes.b integer",
                                            "reserved_bytes.difference integer",
                                            "host_bytes.a integer",
                                            "host_bytes.b integer",
                                            "host_bytes.difference integer",
                                            "rows[].key text",
                                            "rows[].category text",
                                            "rows[].bytes_a integer",
                                            "rows[].bytes_b integer",
                                            "rows[].difference integer",
                                            "rows[].only_in null",
                                            "rows[].fields list"}));
}

TEST(Compare, NeedsTwoFiles) {
  EXPECT_EQ(refusal_of([] { static_cast<void>(compare({})); }).where, "A");
  EXPECT_EQ(refusal_of([] { static_cast<void>(compare({"a.json", ""})); }).where, "B");
}

TEST(Compare, RefusesWhatIsNoLedger) {
  const TestFolder folder;
  const std::string file = folder.write("a.json", R"({"schema": "fourhold.fit/1"})");
  EXPECT_TRUE(holds(refusal_of([&] { static_cast<void>(compare({file, file})); }).where, file));
}

}  // namespace
}  // namespace fourhold::api

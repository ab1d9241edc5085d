#include "fourhold/measured/measured_row.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "tests/unit/measured/row_text.h"

namespace fourhold::measured {
namespace {

struct Refusal {
  std::string where;
  std::string what;
  std::string hint;
};
Refusal refusal_of(const std::string& text) {
  try {
    static_cast<void>(parse_rows(text, "a.csv"));
  } catch (const Error& error) {
    return {error.where(), error.what(), error.hint()};
  }
  return {};
}

MeasuredRow sole(const std::map<std::string, std::string>& values) {
  return parse_rows(header_text() + "\n" + row_text(values), "a.csv").at(0);
}

TEST(MeasuredRow, ReadsEveryKindOfColumn) {
  const MeasuredRow row = sole({{"id", "mine-0012"},
                                {"params_b", "6.7"},
                                {"layers", "32"},
                                {"oom", "yes"},
                                {"notes", "\"key flags: swiglu=true, tp=2; words = no fact\""}});
  EXPECT_EQ(row.family(), "mine");
  EXPECT_EQ(row.params_b, 6.7);
  EXPECT_EQ(row.layers, 32);
  EXPECT_EQ(row.oom, true);
  EXPECT_FALSE(row.hidden);
  EXPECT_EQ(row.fact("swiglu"), "true");
  EXPECT_EQ(row.fact("tp"), "2");
  EXPECT_EQ(row.facts.size(), 2U);
}

TEST(MeasuredRow, TakesColumnsInAnyOrder) {
  std::string header = header_text();
  // The last column first: `notes` and `id` change places.
  header = "notes" + header.substr(2, header.size() - 2 - 5) + "id";
  std::string row = row_text({{"id", "said"}, {"notes", "own-1"}});
  EXPECT_EQ(parse_rows(header + "\n" + row, "a.csv").at(0).id, "own-1");
  EXPECT_EQ(parse_rows(header + "\n" + row, "a.csv").at(0).notes, "said");
}

TEST(MeasuredRow, NamesTheNearestColumn) {
  std::string header = header_text();
  header.replace(header.find("micro_batch"), 11, "micro_bach");
  const Refusal refusal = refusal_of(header);
  EXPECT_EQ(refusal.where, "a.csv:1:" + std::to_string(header.find("micro_bach") + 1));
  EXPECT_NE(refusal.hint.find("'micro_batch'"), std::string::npos) << refusal.hint;
}

TEST(MeasuredRow, RefusesAHeaderWithoutAColumnOrWithOneTwice) {
  std::string header = header_text();
  header.erase(header.find(",oom"), 4);
  EXPECT_NE(refusal_of(header).what.find("'oom' is missing"), std::string::npos);
  EXPECT_NE(refusal_of(header_text() + ",id").what.find("twice"), std::string::npos);
  EXPECT_EQ(refusal_of("").where, "a.csv:1:1");
}

TEST(MeasuredRow, SaysWhereANumberIsNone) {
  const std::string text = header_text() + "\n" + row_text({{"id", "a-1"}}) + "\n" +
                           row_text({{"id", "a-2"}, {"source", "s"}, {"params_b", "7B"}});
  const Refusal refusal = refusal_of(text);
  // Behind "a-2,s,,,,": 3 + 1 + 1 + 4 characters.
  EXPECT_EQ(refusal.where, "a.csv:3:10");
  EXPECT_NE(refusal.what.find("params_b is '7B'"), std::string::npos) << refusal.what;
  for (const char* bad : {"-1", "nan", "inf", "1e", "0x10", " 1", "1 2"}) {
    EXPECT_FALSE(refusal_of(header_text() + "\n" + row_text({{"id", "a-1"}, {"params_b", bad}}))
                     .what.empty())
        << bad;
  }
  EXPECT_NE(refusal_of(header_text() + "\n" + row_text({{"id", "a-1"}, {"oom", "maybe"}}))
                .what.find("yes or no"),
            std::string::npos);
}

TEST(MeasuredRow, RefusesRowsOfAnotherLengthAndIdsThatStandTwice) {
  EXPECT_NE(refusal_of(header_text() + "\na-1,b").what.find("has 2 fields"), std::string::npos);
  EXPECT_FALSE(refusal_of(header_text() + "\n" + row_text({})).what.empty());
  const std::string row = "\n" + row_text({{"id", "a-1"}});
  EXPECT_NE(refusal_of(header_text() + row + row).what.find("stands twice"), std::string::npos);
}

TEST(MeasuredRow, KeepsWhatNoPlanCanUse) {
  const MeasuredRow row = sole({{"id", "a-1"}, {"grad_accum", "2.5"}, {"tp", "0"}, {"pp", "4.0"}});
  EXPECT_FALSE(row.grad_accum);
  EXPECT_EQ(row.pp, 4);
  ASSERT_EQ(row.unusable.size(), 2U);
  EXPECT_NE(row.unusable[0].find("tp is 0"), std::string::npos);
  EXPECT_NE(row.unusable[1].find("grad_accum is 2.5"), std::string::npos);
}

}  // namespace
}  // namespace fourhold::measured

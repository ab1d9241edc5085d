#include "fourhold/api/option_value.h"

#include <gtest/gtest.h>

#include "fourhold/plan/plan_fields.h"
#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

const Option kShare{{"headroom", "help", {}, {0, 0.99}}};
const Option kCount{{"count", "help", {1, 1000}}};

TEST(OptionValue, ReadsASizeWithItsUnit) {
  std::optional<Bytes> size;
  set_from_text(Option{}, "24GiB", "--memory", size);
  EXPECT_EQ(size, Bytes(std::int64_t{24} << 30));
}

TEST(OptionValue, RefusesNoMemoryAtAll) {
  std::optional<Bytes> size;
  EXPECT_EQ(refusal_of([&] { set_from_text(Option{}, "0", "--memory", size); }).where, "--memory");
}

TEST(OptionValue, ReadsAShareAsNumberOrPercent) {
  std::optional<double> share;
  set_from_text(kShare, "0.25", "--headroom", share);
  EXPECT_EQ(share, 0.25);
  set_from_text(kShare, "25%", "--headroom", share);
  EXPECT_EQ(share, 0.25);
}

TEST(OptionValue, RefusesAShareOutsideItsRange) {
  std::optional<double> share;
  for (const char* text : {"1", "-0.1", "100%", "nan", "inf", "x", "", "%", "0.1x"}) {
    EXPECT_TRUE(
        holds(refusal_of([&] { set_from_text(kShare, text, "--headroom", share); }).hint, "10%"))
        << text;
  }
}

TEST(OptionValue, AShareAboveOneIsTakenForAPercentageThatLacksItsSign) {
  const Option confidence{{"confidence", "help", {}, {0.5, 0.9999}}};
  std::optional<double> share;
  const auto hint = [&](const char* text) {
    return refusal_of([&] { set_from_text(confidence, text, "--confidence", share); }).hint;
  };
  EXPECT_EQ(hint("95"), "write 95%, or 0.95, if that is meant; the nearest valid value is 0.9999");
  EXPECT_TRUE(holds(hint("1"), "0.9 or 90%")) << hint("1");
  EXPECT_FALSE(holds(hint("0.2"), "0.1 or")) << hint("0.2");  // not a value it takes
  for (const char* text : {"95%", "0.95", "99.9%", "0.999"}) {
    EXPECT_NO_THROW(set_from_text(confidence, text, "--confidence", share)) << text;
  }
}

TEST(OptionValue, ANumberThatIsNoShareTakesNoPercent) {
  const Option days{{"deadline", "help", {}, {0, 1e6}}};
  std::optional<double> number;
  set_from_text(days, "2.5", "--deadline", number);
  EXPECT_EQ(number, 2.5);
  EXPECT_TRUE(holds(refusal_of([&] { set_from_text(days, "5%", "--deadline", number); }).what,
                    "is not a number"));
}

TEST(OptionValue, AFlagStandsAlone) {
  bool flag = false;
  set_from_text(Option{}, "true", "--pareto", flag);
  EXPECT_TRUE(flag);
  set_from_json(Option{}, json::Value(false), "pareto", flag);
  EXPECT_FALSE(flag);
  EXPECT_EQ(refusal_of([&] { set_from_json(Option{}, json::Value(1), "pareto", flag); }).where,
            "pareto");
}

TEST(OptionValue, RepeatedTextsAreKeptInOrder) {
  std::vector<std::string> texts;
  set_from_text(Option{}, "tp=4", "--change", texts);
  set_from_text(Option{}, "pp=2", "--change", texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"tp=4", "pp=2"}));
  EXPECT_TRUE(kRepeats<std::vector<std::string>>);
  EXPECT_FALSE(kRepeats<std::string>);
}

TEST(OptionValue, ReadsCountsAsPeopleWriteThem) {
  std::optional<std::int64_t> count;
  set_from_text(kCount, "0.5K", "--count", count);
  EXPECT_EQ(count, 500);
  EXPECT_EQ(refusal_of([&] { set_from_text(kCount, "2K", "--count", count); }).where, "--count");
}

TEST(OptionValue, RefusesAnEmptyText) {
  std::string text;
  EXPECT_EQ(refusal_of([&] { set_from_text(Option{}, "", "model", text); }).where, "model");
}

TEST(OptionValue, ReadsSizesFromJsonAsNumberOrText) {
  std::optional<Bytes> size;
  set_from_json(Option{}, json::Value(1024), "memory", size);
  EXPECT_EQ(size, Bytes(1024));
  set_from_json(Option{}, json::Value("1KiB"), "memory", size);
  EXPECT_EQ(size, Bytes(1024));
  EXPECT_EQ(refusal_of([&] { set_from_json(Option{}, json::Value(0), "memory", size); }).where,
            "memory");
}

TEST(OptionValue, KnowsTheValuesOfAClosedSet) {
  EXPECT_EQ(choices_of(std::optional<plan::ScheduleKind>()).size(), 3U);
  EXPECT_EQ(choices_of(std::optional<bool>()).size(), 2U);
  EXPECT_TRUE(choices_of(std::optional<std::int64_t>()).empty());
  EXPECT_TRUE(choices_of(std::string()).empty());
}

TEST(OptionValue, ASizeWithoutAUnitThatNoMemoryHasIsRefused) {
  std::optional<Bytes> size;
  for (const char* text : {"24", "80", "1e3", "1048575"}) {
    EXPECT_THROW(set_from_text(Option{}, text, "--memory", size), Error) << text;
  }
  set_from_text(Option{}, "24B", "--memory", size);
  EXPECT_EQ(size, Bytes(24));
  set_from_text(Option{}, "1048576", "--memory", size);
  EXPECT_EQ(size, Bytes(1 << 20));
}

}  // namespace
}  // namespace fourhold::api

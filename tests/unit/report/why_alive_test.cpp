#include "fourhold/report/why_alive.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace fourhold::report {
namespace {

using ledger::Category;
using ledger::Entry;

Entry of(Category category) {
  Entry entry;
  entry.category = category;
  return entry;
}

TEST(WhyAlive, HasAReasonOfItsOwnForEveryCategory) {
  std::set<std::string_view> reasons;
  for (int i = 0; i < ledger::kCategoryCount; ++i) {
    const std::string_view why = why_alive(of(static_cast<Category>(i)));
    EXPECT_FALSE(why.empty());
    reasons.insert(why);
  }
  EXPECT_EQ(reasons.size(), static_cast<std::size_t>(ledger::kCategoryCount));
}

TEST(WhyAlive, TellsWholeGradientsOfABlockFromAccumulators) {
  Entry entry = of(Category::gradient);
  const std::string_view accumulator = why_alive(entry);
  entry.key.role = ledger::Role::whole_gradient;
  EXPECT_NE(why_alive(entry), accumulator);
  EXPECT_NE(why_alive(entry).find("reduced"), std::string_view::npos);
}

TEST(WhyAlive, TellsScalesFromMoments) {
  Entry entry = of(Category::optimizer_state);
  entry.key.role = ledger::Role::scale;
  EXPECT_NE(why_alive(entry).find("scales"), std::string_view::npos);
}

TEST(WhyAlive, TellsBuffersOfTheStepFromWorkOfAnOperation) {
  Entry entry = of(Category::scratch);
  entry.key.block = "step";
  EXPECT_NE(why_alive(entry).find("whole step"), std::string_view::npos);
}

TEST(WhyAlive, SaysThatWhatIsOnTheHostTakesNothingOnTheDevice) {
  Entry entry = of(Category::master_weight);
  entry.place = ledger::Place::host;
  EXPECT_NE(why_alive(entry).find("host"), std::string_view::npos);
  entry.key.role = ledger::Role::buffer;
  EXPECT_NE(why_alive(entry).find("pinned"), std::string_view::npos);
}

}  // namespace
}  // namespace fourhold::report

#include "fourhold/plan/legal_values.h"

#include <limits>

#include <gtest/gtest.h>

namespace fourhold::plan {
namespace {

TEST(LegalValues, DivisorsAreAscendingAndComplete) {
  EXPECT_EQ(divisors(1), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(divisors(28), (std::vector<std::int64_t>{1, 2, 4, 7, 14, 28}));
  EXPECT_EQ(divisors(25), (std::vector<std::int64_t>{1, 5, 25}));
  EXPECT_EQ(divisors(71), (std::vector<std::int64_t>{1, 71}));
}

TEST(LegalValues, TheNearestMultiplesLieOnBothSides) {
  const Neighbours around = multiples_around(256, 14);
  EXPECT_EQ(around.below, 252);  // 18 x 14
  EXPECT_EQ(around.above, 266);  // 19 x 14
  EXPECT_EQ(to_string(around), "252 or 266");
}

TEST(LegalValues, ZeroIsNeverOfferedAsAMultiple) {
  EXPECT_EQ(to_string(multiples_around(5, 8)), "8");
}

TEST(LegalValues, ListsReadAsASentence) {
  EXPECT_EQ(list_text(std::vector<std::int64_t>{4}), "4");
  EXPECT_EQ(list_text(std::vector<std::int64_t>{1, 2}), "1 or 2");
  EXPECT_EQ(list_text(std::vector<std::string_view>{"a", "b", "c"}), "a, b or c");
}

TEST(LegalValues, LongListsAreCut) {
  // 2^10 x 3^2 has 11 x 3 = 33 divisors; the first 16 are 1 to 48 in this order.
  EXPECT_EQ(list_text(divisors(9216)),
            "1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 32, 36, 48, 64, 72 ...");
}

TEST(LegalValues, AProductStopsAtTheLargestNumber) {
  EXPECT_EQ(saturating_product({3, 4, 5}), 60);
  EXPECT_EQ(saturating_product({1LL << 40, 1LL << 40}), std::numeric_limits<std::int64_t>::max());
}

TEST(LegalValues, TheNearestOfAListLieOnBothSides) {
  EXPECT_EQ(nearest_text({1, 2, 4, 8}, 3), "2 or 4");
  EXPECT_EQ(nearest_text({1, 2, 4, 8}, 9), "8");
  EXPECT_EQ(nearest_text({2, 4}, 1), "2");
}

}  // namespace
}  // namespace fourhold::plan

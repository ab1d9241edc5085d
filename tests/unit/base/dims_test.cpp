#include "fourhold/base/dims.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "fourhold/base/error.h"

namespace fourhold {
namespace {

TEST(Dims, TheElementsAreTheProductOfTheSizes) {
  EXPECT_EQ((Dims{2, 3, 5, 7}).elements(), 210);
  EXPECT_EQ((Dims{4, 0}).elements(), 0);
}

TEST(Dims, AScalarHasOneElementAndNoSizes) {
  EXPECT_EQ(Dims{}.elements(), 1);
  EXPECT_EQ(Dims{}.rank(), 0);
}

TEST(Dims, TheTextListsTheSizesOutermostFirst) {
  EXPECT_EQ(to_string(Dims{4096, 14336}), "[4096, 14336]");
  EXPECT_EQ(to_string(Dims{7}), "[7]");
  EXPECT_EQ(to_string(Dims{}), "[]");
}

TEST(Dims, SizesThatDifferInOrderOrRankAreNotEqual) {
  EXPECT_EQ((Dims{2, 3}), (Dims{2, 3}));
  EXPECT_FALSE((Dims{2, 3}) == (Dims{3, 2}));
  EXPECT_FALSE((Dims{2, 0}) == (Dims{2}));
}

TEST(Dims, AProductBeyond64BitsIsRefused) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((Dims{most, 1}).elements(), most);
  EXPECT_THROW(static_cast<void>((Dims{most, 2}).elements()), Error);
}

}  // namespace
}  // namespace fourhold

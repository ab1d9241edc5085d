#include "fourhold/api/published_total.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

const std::vector<model::Extra> kExtras{
    {"masks", 10, ""}, {"towers", 0, "not known"}, {"scales", 7, ""}, {"head", 100, ""}};

TEST(PublishedTotal, AnEqualOneIsExact) {
  const PublishedTotal published = explain_published(1000, 1000, kExtras);
  EXPECT_EQ(published.difference, 0);
  EXPECT_TRUE(holds(published_text(published, 1000), "is exact"));
}

TEST(PublishedTotal, OneExtraMayMakeTheDifference) {
  const PublishedTotal published = explain_published(1100, 1000, kExtras);
  EXPECT_EQ(published.explained, (std::vector<std::string>{"head: 100"}));
  EXPECT_TRUE(holds(published_text(published, 1000), "100 more: head: 100"));
}

TEST(PublishedTotal, SeveralExtrasMayMakeItTogether) {
  EXPECT_EQ(explain_published(1117, 1000, kExtras).explained,
            (std::vector<std::string>{"masks: 10", "scales: 7", "head: 100"}));
}

TEST(PublishedTotal, AnotherDifferenceIsNotExplained) {
  const PublishedTotal published = explain_published(1009, 1000, kExtras);
  EXPECT_TRUE(published.explained.empty());
  EXPECT_TRUE(holds(published_text(published, 1000), "nothing known"));
  EXPECT_TRUE(explain_published(990, 1000, kExtras).explained.empty());
}

TEST(PublishedTotal, OneThatIsFarOffIsNotTrusted) {
  const PublishedTotal published = explain_published(528'384, 7'000'000'000, {});
  EXPECT_TRUE(holds(published_text(published, 7'000'000'000), "the shapes are used"));
}

}  // namespace
}  // namespace fourhold::api

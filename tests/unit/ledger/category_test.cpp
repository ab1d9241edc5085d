#include "fourhold/ledger/category.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace fourhold::ledger {
namespace {

TEST(Category, EveryCategoryHasItsOwnText) {
  std::set<std::string_view> texts;
  for (int i = 0; i < kCategoryCount; ++i) texts.insert(to_string(static_cast<Category>(i)));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(kCategoryCount));
  EXPECT_EQ(texts.count(""), 0U);
}

TEST(Category, TextsFollowTheOrderOfTheEnum) {
  EXPECT_EQ(to_string(Category::weight), "weight");
  EXPECT_EQ(to_string(Category::optimizer_state), "optimizer_state");
  EXPECT_EQ(to_string(Category::saved_activation), "saved_activation");
  EXPECT_EQ(to_string(Category::other), "other");
  EXPECT_EQ(to_string(Category::kv_cache), "kv_cache");
}

}  // namespace
}  // namespace fourhold::ledger

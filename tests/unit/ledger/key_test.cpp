#include "fourhold/ledger/key.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace fourhold::ledger {
namespace {

TEST(Key, OnlyWhatIsSetIsSpelled) {
  EXPECT_EQ(to_string(Key{.block = "head", .name = "logits"}), "head.logits");
  EXPECT_EQ(to_string(Key{.block = "layer", .name = "q_weight", .layer = 3}), "layer.3.q_weight");
  EXPECT_EQ(to_string(Key{.block = "layer",
                          .name = "norm1_out",
                          .layer = 3,
                          .micro_batch = 2,
                          .role = Role::gradient}),
            "layer.3.norm1_out.gradient@mb2");
  EXPECT_EQ(to_string(Key{.block = "layer",
                          .name = "q_weight",
                          .variant = "lora_a",
                          .layer = 0,
                          .role = Role::moment1}),
            "layer.0.q_weight.lora_a.moment1");
}

TEST(Key, AVariantThatReadsAsARoleIsFollowedByTheRealRole) {
  const Key variant{.block = "head", .name = "w", .variant = "gathered"};
  const Key role{.block = "head", .name = "w", .role = Role::gathered};
  EXPECT_EQ(to_string(variant), "head.w.gathered.value");
  EXPECT_EQ(to_string(role), "head.w.gathered");
}

TEST(Key, EveryRoleHasItsOwnText) {
  std::set<std::string_view> texts;
  for (int i = 0; i < kRoleCount; ++i) texts.insert(to_string(static_cast<Role>(i)));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(kRoleCount));
  EXPECT_EQ(to_string(Role::buffer), "buffer");
}

TEST(Key, KeysAreOrderedByTextsBeforeNumbers) {
  const Key early{.block = "layer", .name = "k_weight", .layer = 9};
  const Key late{.block = "layer", .name = "q_weight", .layer = 1};
  EXPECT_LT(early, late);
  EXPECT_LT((Key{.block = "layer", .name = "q_weight", .layer = 2}),
            (Key{.block = "layer", .name = "q_weight", .layer = 10}));
}

TEST(Key, EveryFieldTakesPartInTheOrder) {
  const Key key{.block = "layer", .name = "q", .variant = "a", .layer = 1, .micro_batch = 1};
  EXPECT_TRUE((key <=> key) == 0);
  Key later = key;
  later.variant = "b";
  EXPECT_LT(key, later);
  later = key;
  later.layer = 2;
  EXPECT_LT(key, later);
  later = key;
  later.micro_batch = 2;
  EXPECT_LT(key, later);
  later = key;
  later.role = Role::gradient;
  EXPECT_LT(key, later);
}

}  // namespace
}  // namespace fourhold::ledger

// Stages of Aleph Alpha's runs, from the rule by hand.
#include "fourhold/measured/aleph_stages.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace fourhold::measured {
namespace {

using Layers = std::vector<std::int64_t>;

// 40 layers are 43 modules. Over 2 stages 22 and 21: the embedding and 21 layers, 19 layers, norm
// and head. Over 4: 11, 11, 11, 10.
TEST(AlephStages, EmbeddingNormAndHeadCountAsLayers) {
  EXPECT_EQ(aleph_stages(40, 1), (Layers{40}));
  EXPECT_EQ(aleph_stages(40, 2), (Layers{21, 19}));
  EXPECT_EQ(aleph_stages(40, 4), (Layers{10, 11, 11, 8}));
}

// 60 layers are 63 modules: 15 stages of 4 and a last one of 3, which has one layer.
TEST(AlephStages, WhatDoesNotDivideGoesToTheFirstStages) {
  Layers expected(16, 4);
  expected.front() = 3;
  expected.back() = 1;
  EXPECT_EQ(aleph_stages(60, 16), expected);
}

// 2 layers are 5 modules: the last two of 4 stages hold norm and head alone.
TEST(AlephStages, StagesOfTheEndMayHoldNoLayer) {
  EXPECT_EQ(aleph_stages(2, 4), (Layers{1, 1, 0, 0}));
}

}  // namespace
}  // namespace fourhold::measured

#include "fourhold/model/model_config.h"

#include <gtest/gtest.h>

namespace fourhold::model {
namespace {

TEST(ModelConfig, EqualLayersAreEqual) { EXPECT_TRUE(LayerKind{} == LayerKind{}); }

TEST(ModelConfig, EveryPartOfALayerTellsItApart) {
  const LayerKind base;
  LayerKind norm = base;
  norm.norm_bias = true;
  LayerKind placement = base;
  placement.placement = NormPlacement::sandwich;
  LayerKind window = base;
  window.attention.window = 4096;
  LayerKind rope = base;
  rope.attention.rope_head_dim = 64;
  LayerKind width = base;
  width.feed_forward.width = 1;
  LayerKind correction = base;
  correction.feed_forward.correction_bias = true;
  for (const LayerKind& other : {norm, placement, window, rope, width, correction}) {
    EXPECT_FALSE(base == other);
  }
}

}  // namespace
}  // namespace fourhold::model

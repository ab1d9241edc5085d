#include "fourhold/api/modules.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "fourhold/model/load_model.h"

namespace fourhold::api {
namespace {

const Module* find(const std::vector<Module>& modules, const std::string& name) {
  const auto found = std::find_if(modules.begin(), modules.end(),
                                  [&name](const Module& module) { return module.name == name; });
  return found == modules.end() ? nullptr : &*found;
}

TEST(Modules, JoinHeadsWithTheirWidthAsCheckpointsStoreThem) {
  const std::vector<Module> modules = modules_of(model::load_model("llama-3.1-8b"));
  const Module* k = find(modules, "layer.k_weight");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->shape, (std::vector<std::int64_t>{8 * 128, 4096}));
  EXPECT_EQ(k->copies, 32);
  EXPECT_EQ(k->total(), std::int64_t{8} * 128 * 4096 * 32);
}

TEST(Modules, KindsOfLayersThatShareAParameterShareALine) {
  // One dense layer and 26 of experts, all with the same attention.
  const std::vector<Module> modules = modules_of(model::load_model("deepseek-v2-lite"));
  EXPECT_EQ(find(modules, "layer.o_weight")->copies, 27);
  EXPECT_EQ(find(modules, "layer.gate_weight")->copies, 1);
  EXPECT_EQ(find(modules, "layer.expert_gate_weight")->copies, 26);
}

TEST(Modules, OfWeightsAreGroupedByNameWithoutNumbers) {
  std::vector<model::StoredTensor> tensors(3);
  tensors[0].name = "layers.0.w1.weight";
  tensors[1].name = "layers.11.w1.weight";
  tensors[2].name = "layers.2.w1.weight";
  for (model::StoredTensor& tensor : tensors) {
    tensor.shape = {2, 3};
    tensor.elements = 6;
  }
  tensors[2].shape = {6};
  const std::vector<Module> modules = modules_of(tensors);
  ASSERT_EQ(modules.size(), 2U);
  EXPECT_EQ(modules[0].name, "layers.*.w1.weight");
  EXPECT_EQ(modules[0].copies, 2);
  EXPECT_EQ(modules[1].copies, 1);
}

}  // namespace
}  // namespace fourhold::api

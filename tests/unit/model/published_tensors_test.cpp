#include "fourhold/model/published_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/model/load_model.h"

namespace fourhold::model {
namespace {

using Sizes = std::vector<std::int64_t>;

const PublishedTensor* find(const std::vector<PublishedTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const PublishedTensor& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::int64_t elements(const std::vector<PublishedTensor>& tensors) {
  std::int64_t total = 0;
  for (const PublishedTensor& tensor : tensors) total += tensor.elements();
  return total;
}

// huggingface.co/gpt2: model.safetensors holds 148 tensors of 124,439,808 parameters beside its 12
// mask buffers; c_attn.weight is [768, 2304].
TEST(PublishedTensors, Gpt2HasThe148TensorsOfItsPublishedFile) {
  const auto tensors = published_tensors(load_model("gpt2"));
  EXPECT_EQ(tensors.size(), 148U);
  EXPECT_EQ(elements(tensors), 124'439'808);
  const PublishedTensor* joined = find(tensors, "transformer.h.11.attn.c_attn.weight");
  ASSERT_NE(joined, nullptr);
  EXPECT_EQ(joined->shape, (Sizes{768, 2304}));
  EXPECT_TRUE(joined->transposed);
  ASSERT_EQ(joined->parts.size(), 3U);
  EXPECT_EQ(to_string(joined->parts[1].id), "layer.11.k_weight");
  EXPECT_EQ(joined->parts[1].size, (MatrixSize{768, 768}));
}

TEST(PublishedTensors, Gpt2StoresItsFeedForwardInputFirst) {
  const auto tensors = published_tensors(load_model("gpt2"));
  EXPECT_EQ(find(tensors, "transformer.h.0.mlp.c_fc.weight")->shape, (Sizes{768, 3072}));
  EXPECT_EQ(find(tensors, "transformer.h.0.mlp.c_proj.weight")->shape, (Sizes{3072, 768}));
  EXPECT_EQ(find(tensors, "transformer.wpe.weight")->shape, (Sizes{1024, 768}));
  EXPECT_EQ(find(tensors, "transformer.h.0.attn.c_attn.bias")->shape, (Sizes{2304}));
}

// huggingface.co/meta-llama/Llama-3.1-8B: 291 tensors, 8,030,261,248 parameters.
TEST(PublishedTensors, LlamaHasThe291TensorsOfItsPublishedIndex) {
  const auto tensors = published_tensors(load_model("llama-3.1-8b"));
  EXPECT_EQ(tensors.size(), 291U);
  EXPECT_EQ(elements(tensors), 8'030'261'248);
  EXPECT_EQ(tensors.front().name, "model.embed_tokens.weight");
  EXPECT_EQ(tensors.back().name, "lm_head.weight");
  EXPECT_EQ(find(tensors, "model.layers.31.self_attn.k_proj.weight")->shape, (Sizes{1024, 4096}));
  EXPECT_EQ(find(tensors, "model.layers.31.mlp.down_proj.weight")->shape, (Sizes{4096, 14336}));
}

TEST(PublishedTensors, QwenHasBiasesOrQkNormsUnderTheirNames) {
  const auto qwen2 = published_tensors(load_model("qwen2.5-7b"));
  EXPECT_EQ(find(qwen2, "model.layers.0.self_attn.v_proj.bias")->shape, (Sizes{512}));
  EXPECT_EQ(find(qwen2, "model.layers.0.self_attn.o_proj.bias"), nullptr);
  const auto qwen3 = published_tensors(load_model("qwen3-8b"));
  EXPECT_EQ(find(qwen3, "model.layers.0.self_attn.q_norm.weight")->shape, (Sizes{128}));
}

TEST(PublishedTensors, ATiedHeadHasNoTensorOfItsOwn) {
  const ModelConfig config = load_model("llama-3.2-1b");
  const auto tensors = published_tensors(config);
  EXPECT_EQ(find(tensors, "lm_head.weight"), nullptr);
  EXPECT_EQ(published_head_name(config), "lm_head.weight");
  EXPECT_EQ(elements(tensors), count_parameters(config).total);
}

// huggingface.co/microsoft/phi-4: 5120 hidden, 40 + 2 x 10 heads of 128, feed-forward 17,920.
TEST(PublishedTensors, Phi3JoinsQkvAndGateWithUp) {
  const auto tensors = published_tensors(load_model("phi-4"));
  EXPECT_EQ(find(tensors, "model.layers.0.self_attn.qkv_proj.weight")->shape, (Sizes{7680, 5120}));
  const PublishedTensor* joined = find(tensors, "model.layers.0.mlp.gate_up_proj.weight");
  ASSERT_NE(joined, nullptr);
  EXPECT_EQ(joined->shape, (Sizes{35840, 5120}));
  EXPECT_EQ(to_string(joined->parts[0].id), "layer.0.gate_weight");
  EXPECT_EQ(elements(tensors), count_parameters(load_model("phi-4")).total);
}

TEST(PublishedTensors, AnUnknownTypeIsRefusedWithTheKnownOnes) {
  try {
    static_cast<void>(published_tensors(load_model("bloom-560m")));
    FAIL() << "bloom has no published spelling here";
  } catch (const Error& fault) {
    EXPECT_NE(std::string(fault.what()).find("'bloom'"), std::string::npos) << fault.what();
    EXPECT_NE(fault.hint().find("gpt2, llama, mistral"), std::string::npos) << fault.hint();
  }
}

TEST(PublishedTensors, ParametersAreSpelledLikeLedgerKeys) {
  EXPECT_EQ(to_string(ParameterId{Block::layer, 3, TensorName::q_weight}), "layer.3.q_weight");
  EXPECT_EQ(to_string(ParameterId{Block::head, ParameterId::kNoLayer, TensorName::head_weight}),
            "head.head_weight");
}

}  // namespace
}  // namespace fourhold::model

#include "fourhold/engine/checkpoint/published_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/base/error.h"
#include "tests/engine/checkpoint/stored_model.h"
#include "tests/engine/checkpoint/tiny_models.h"

namespace fourhold::engine {
namespace {

using model::Block;
using model::ParameterId;
using model::TensorName;

constexpr ParameterId kEmbedding{Block::embedding, ParameterId::kNoLayer,
                                 TensorName::token_embedding};

TEST(PublishedReader, NamesWithoutTheTrunkAndInsideWrappersAreFound) {
  for (const std::string prefix : {"", "model.", "module.model.", "_orig_mod.module.",
                                   "model.language_model.", "language_model.model."}) {
    StoredModel stored(tiny_qwen3());
    stored.rename(
        [&prefix](std::string name) { return prefix + name.substr(std::string("model.").size()); });
    const PublishedWeights read(stored.tensors(), tiny_qwen3(), "stored");
    EXPECT_EQ(stored.values(read, kEmbedding)[79], 79.0F) << prefix;
  }
}

// huggingface.co/gpt2 names its tensors without "transformer." and holds both mask buffers.
TEST(PublishedReader, BuffersBesideTheParametersAreListedAndNotRead) {
  StoredModel stored(tiny_gpt2());
  stored.rename([](std::string name) { return name.substr(std::string("transformer.").size()); });
  stored.add("h.0.attn.bias", model::StoredType::f32, {1, 1, 4, 4});
  stored.add("h.0.attn.masked_bias", model::StoredType::f32, {});
  const PublishedWeights read(stored.tensors(), tiny_gpt2(), "stored");
  ASSERT_EQ(read.notes().size(), 1U);
  EXPECT_EQ(read.notes().front(),
            "2 tensors of causal mask buffers not read: h.0.attn.bias, h.0.attn.masked_bias");
}

TEST(PublishedReader, OldRotaryFrequenciesAreListedAndNotRead) {
  StoredModel stored(tiny_llama());
  stored.add("model.layers.0.self_attn.rotary_emb.inv_freq", model::StoredType::f32, {1});
  const PublishedWeights read(stored.tensors(), tiny_llama(), "stored");
  ASSERT_EQ(read.notes().size(), 1U);
  EXPECT_NE(read.notes().front().find("rotary_emb.inv_freq"), std::string::npos);
}

std::pair<std::string, std::string> fault_of(StoredModel& stored,
                                             const model::ModelConfig& config) {
  try {
    const PublishedWeights read(stored.tensors(), config, "stored");
  } catch (const Error& fault) {
    return {fault.what(), fault.hint()};
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(PublishedReader, EveryMissingTensorIsNamed) {
  StoredModel stored(tiny_llama());
  stored.remove("model.norm.weight");
  stored.remove("model.layers.1.mlp.up_proj.weight");
  EXPECT_EQ(fault_of(stored, tiny_llama()).first,
            "lacks 2 tensors of the model: model.layers.1.mlp.up_proj.weight, model.norm.weight");
}

TEST(PublishedReader, AMissingHeadHintsAtTheTie) {
  StoredModel stored(tiny_llama());
  stored.remove("lm_head.weight");
  EXPECT_NE(fault_of(stored, tiny_llama()).second.find("tie_word_embeddings"), std::string::npos);
}

TEST(PublishedReader, ParametersWithoutAPlaceAreRefused) {
  StoredModel stored(tiny_llama());
  stored.add("model.layers.0.self_attn.q_proj.bias", model::StoredType::f32, {8});
  EXPECT_EQ(fault_of(stored, tiny_llama()).first,
            "holds 1 tensor that the model has no place for: model.layers.0.self_attn.q_proj.bias");
}

TEST(PublishedReader, AShapeThatTheConfigDoesNotGiveIsRefusedWithBoth) {
  StoredModel stored(tiny_llama());
  stored.reshape("model.embed_tokens.weight", {8, 10});
  EXPECT_EQ(fault_of(stored, tiny_llama()).first,
            "'model.embed_tokens.weight' has the shape [8, 10], the model's config gives [10, 8]");
  EXPECT_NE(fault_of(stored, tiny_llama()).second.find("other way round"), std::string::npos);
}

TEST(PublishedReader, QuantisedWeightsAreRefusedByType) {
  StoredModel stored(tiny_llama());
  stored.retype("model.norm.weight", model::StoredType::f8_e4m3);
  EXPECT_EQ(fault_of(stored, tiny_llama()).first, "'model.norm.weight' is stored as F8_E4M3");
}

TEST(PublishedReader, ATensorStoredTwiceMayRepeatItsValuesOnly) {
  StoredModel stored(tiny_gpt2());
  stored.copy("transformer.wte.weight", "wte.weight");
  const PublishedWeights read(stored.tensors(), tiny_gpt2(), "stored");
  ASSERT_EQ(read.notes().size(), 1U);
  EXPECT_NE(read.notes().front().find("stored again as 'wte.weight'"), std::string::npos);
  stored.change("wte.weight");
  EXPECT_EQ(fault_of(stored, tiny_gpt2()).first,
            "'transformer.wte.weight' and 'wte.weight' are two names of one tensor, but their "
            "values differ");
}

RC_GTEST_PROP(PublishedReader, ASliceOfAParameterIsThatPartOfTheWhole, ()) {
  StoredModel stored(tiny_gpt2());
  const PublishedWeights read(stored.tensors(), tiny_gpt2(), "stored");
  const auto parts = parts_of(tiny_gpt2());
  const auto part = parts[*rc::gen::inRange<std::size_t>(0, parts.size())];
  const std::int64_t all = part.size.elements();
  const auto begin = *rc::gen::inRange<std::int64_t>(0, all);
  const auto end = *rc::gen::inRange<std::int64_t>(begin + 1, all + 1);
  plan::Slice some = plan::contiguous(begin, end);
  if (*rc::gen::arbitrary<bool>()) {  // runs of any length and distance, over rows and within them
    some.length = *rc::gen::inRange<std::int64_t>(1, end - begin + 1);
    some.stride = *rc::gen::inRange<std::int64_t>(some.length, end - begin + 1);
    some.count = 1 + (end - begin - some.length) / some.stride;
  }
  const std::vector<plan::Slice> slices{some, plan::contiguous(begin, end)};
  std::vector<float> read_values(static_cast<std::size_t>(some.elements() + end - begin));
  read.read(part.id, slices, DType::fp32, reinterpret_cast<std::byte*>(read_values.data()));
  const std::vector<float> whole = stored.values(read, part.id);
  std::vector<float> expected;
  for (const plan::Slice& slice : slices) {
    for (std::int64_t i = 0; i < slice.elements(); ++i) {
      const std::int64_t at = slice.begin + i / slice.length * slice.stride + i % slice.length;
      expected.push_back(whole[static_cast<std::size_t>(at)]);
    }
  }
  RC_ASSERT(read_values == expected);
}

}  // namespace
}  // namespace fourhold::engine

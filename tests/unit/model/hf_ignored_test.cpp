#include "fourhold/model/hf_ignored.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fourhold/model/catalogue.h"
#include "fourhold/model/load_model.h"
#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

constexpr std::string_view kIgnored = "has no use for";

ModelConfig llama_with(const std::string& field) {
  return read_config(R"({"model_type": "llama", )" + field + "}");
}

// Fields of OLMo, Gemma 2 and Granite in a Llama: LlamaForCausalLM of transformers reads none.
TEST(HfIgnored, FieldsThatWouldChangeTheArithmeticAreNotedByName) {
  for (const std::string field :
       {R"("clip_qkv": 8)", R"("final_logit_softcapping": 30.0)", R"("attn_logit_softcapping": 50)",
        R"("attention_multiplier": 0.0156)", R"("residual_multiplier": 0.22)",
        R"("embedding_multiplier": 12)", R"("logits_scaling": 8)",
        R"("layer_types": ["full_attention", "sliding_attention"])"}) {
    const ModelConfig config = llama_with(field);
    const std::string name = field.substr(1, field.find('"', 1) - 1);
    EXPECT_TRUE(has_note(config, "'llama' has no use for " + name)) << field;
  }
}

TEST(HfIgnored, ValuesThatChangeNothingArePassedOver) {
  for (const std::string field :
       {R"("clip_qkv": null)", R"("residual_multiplier": 1.0)", R"("logits_scaling": 1)",
        R"("final_logit_softcapping": 0)", R"("layer_types": ["full_attention"])"}) {
    EXPECT_FALSE(has_note(llama_with(field), kIgnored)) << field;
  }
}

TEST(HfIgnored, WhatAFamilyReadsIsNotNoted) {
  EXPECT_FALSE(has_note(read_config(R"({"model_type": "gemma2", "final_logit_softcapping": 20})"),
                        kIgnored));
}

TEST(HfIgnored, NoPublishedModelIsNoted) {
  for (const std::string_view name : catalogue_names()) {
    try {
      EXPECT_FALSE(has_note(load_model(std::string(name)), kIgnored)) << name;
    } catch (const Error&) {  // the one that is known not to be countable
    }
  }
}

}  // namespace
}  // namespace fourhold::model

#include "fourhold/plan/engine_scratch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fourhold/model/hf_config.h"
#include "fourhold/plan/attention_scratch.h"
#include "fourhold/plan/kernel_scratch.h"
#include "fourhold/plan/program.h"

namespace fourhold::plan {
namespace {

model::ModelConfig tiny() {
  return model::read_hf_config(
      R"({"model_type":"gpt2","vocab_size":100,"n_positions":64,"n_embd":64,"n_layer":1,"n_head":4})",
      "tiny");
}

ProgramBlocks lowered(const std::string& profile, const std::string& isa, std::int64_t threads) {
  Plan plan;
  plan.profile = profile;
  plan.isa = isa;
  plan.threads = threads;
  plan.seq = 64;
  plan.micro_batch = 2;
  plan.global_batch = 2;
  plan.layers_per_stage = {1};
  return lower_blocks(tiny(), plan, load_profile(profile));
}

// Bytes of scratch of a block's first operation of a kind, backward.
std::int64_t backward_scratch(const ProgramBlocks& blocks, model::OpKind kind) {
  const model::BlockOperations& operations =
      blocks.blocks[static_cast<std::size_t>(blocks.layer_of_kind[0])].sharded.operations;
  for (const model::Operation& operation : operations.operations) {
    if (operation.kind != kind) continue;
    for (const model::Transient& transient : operation.backward_transients) {
      if (transient.name == model::TensorName::kernel_scratch) return transient.shape[0].size;
    }
    return 0;
  }
  return -1;
}

// 128 tokens, q of 64 from 64: the larger of the two products.
TEST(EngineScratch, OfALinearIsWhatTheRuleOfItsProductsSays) {
  const GemmSizes sizes{128, 64, 64};
  const auto of = [&](GemmForm form) {
    return gemm_scratch_bytes(form, sizes, DType::bf16, 2, Isa::avx2);
  };
  EXPECT_EQ(backward_scratch(lowered("fourhold", "avx2", 2), model::OpKind::linear),
            std::max(of(GemmForm::backward_data), of(GemmForm::backward_weight)));
}

TEST(EngineScratch, OfAttentionGrowsWithTheThreads) {
  EXPECT_EQ(backward_scratch(lowered("fourhold", "portable", 1), model::OpKind::attention),
            attention_backward_scratch_bytes(64, 16, 1));
  EXPECT_EQ(backward_scratch(lowered("fourhold", "portable", 3), model::OpKind::attention),
            3 * attention_backward_scratch_bytes(64, 16, 1));
}

TEST(EngineScratch, OfAnUnknownMachineIsTheMostOfAny) {
  std::int64_t most = 0;
  for (const char* isa : {"portable", "avx2", "avx512", "avx512_bf16", "amx"}) {
    most = std::max(most, backward_scratch(lowered("fourhold", isa, 1), model::OpKind::linear));
  }
  EXPECT_EQ(backward_scratch(lowered("fourhold", "auto", 1), model::OpKind::linear), most);
}

TEST(EngineScratch, IsNoPartOfOtherProfiles) {
  EXPECT_EQ(backward_scratch(lowered("standard", "auto", 1), model::OpKind::linear), 0);
}

}  // namespace
}  // namespace fourhold::plan

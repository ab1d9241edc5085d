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

ProgramBlocks lowered(const std::string& profile, const std::string& isa, std::int64_t threads,
                      std::int64_t cp = 1) {
  Plan plan;
  plan.cp = cp;
  plan.profile = profile;
  plan.isa = isa;
  plan.threads = threads;
  plan.seq = 64;
  plan.micro_batch = 2;
  plan.global_batch = 2;
  plan.layers_per_stage = {1};
  return lower_blocks(tiny(), plan, load_profile(profile));
}

// Bytes of scratch of a block's first operation of a kind.
std::int64_t scratch_of(const ProgramBlocks& blocks, model::OpKind kind, Phase phase) {
  const model::BlockOperations& operations =
      blocks.blocks[static_cast<std::size_t>(blocks.layer_of_kind[0])].sharded.operations;
  for (const model::Operation& operation : operations.operations) {
    if (operation.kind != kind) continue;
    for (const model::Transient& transient :
         phase == Phase::forward ? operation.forward_transients : operation.backward_transients) {
      if (transient.name == model::TensorName::kernel_scratch) return transient.shape[0].size;
    }
    return 0;
  }
  return -1;
}

std::int64_t backward_scratch(const ProgramBlocks& blocks, model::OpKind kind) {
  return scratch_of(blocks, kind, Phase::backward);
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

// Two sequences of 64 tokens over two ranks are two pieces of 16 each. 2 x 4 heads x 2 pieces are
// 16 blocks of 64 x 16 numbers, and k and v 2 x 64 x 64 of two bytes.
TEST(EngineScratch, OfAttentionOverRanksHasTheRing) {
  const ProgramBlocks blocks = lowered("fourhold", "portable", 3, 2);
  const std::int64_t passing = 2 * 64 * 64 * 2;
  EXPECT_EQ(scratch_of(blocks, model::OpKind::attention, Phase::forward),
            attention_forward_scratch_bytes(16, 3) + 4 * 16 * (64 * 16 + 128) + 2 * passing);
  EXPECT_EQ(scratch_of(blocks, model::OpKind::attention, Phase::backward),
            attention_backward_scratch_bytes(128, 16, 3) + 4 * 16 * (64 * 16) + 4 * passing +
                2 * passing);
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

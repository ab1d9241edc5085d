#include "fourhold/plan/tied_embedding.h"

#include <gtest/gtest.h>

#include "fourhold/model/hf_config.h"
#include "fourhold/plan/parameter_gradients.h"
#include "fourhold/plan/profile.h"

namespace fourhold::plan {
namespace {

const char* const kTied = R"({"model_type":"gpt2","n_embd":16,"n_layer":3,"n_head":4,
                              "n_positions":64,"vocab_size":40})";
const char* const kUntied = R"({"model_type":"gpt2","n_embd":16,"n_layer":3,"n_head":4,
                                "n_positions":64,"vocab_size":40,"tie_word_embeddings":false})";

struct Lowered {
  ProgramBlocks blocks;
  Program program;
};
Lowered lowered(const char* config_text, std::int64_t pp, std::int64_t stage) {
  const model::ModelConfig config = model::read_hf_config(config_text, "small");
  Plan plan;
  plan.seq = 16;
  plan.pp = pp;
  plan.layers_per_stage = canonical_layout(config.layer_count(), pp);
  const Profile profile = load_profile("standard");
  Lowered result{lower_blocks(config, plan, profile), {}};
  result.program = lower(config, result.blocks, plan, profile, stage, ProgramKind::train_step);
  return result;
}

TEST(TiedEmbedding, OneStageHoldsBothEndsOnce) {
  const Lowered one = lowered(kTied, 1, 0);
  EXPECT_TRUE(ties_embedding(one.blocks));
  EXPECT_TRUE(holds_both_ends(one.program.plan, one.blocks));
  EXPECT_FALSE(holds_one_end(one.program, one.blocks));
}

TEST(TiedEmbedding, OfSeveralStagesTheFirstAndTheLastHoldOneEndEach) {
  for (const std::int64_t stage : {0, 1, 2}) {
    const Lowered part = lowered(kTied, 3, stage);
    EXPECT_FALSE(holds_both_ends(part.program.plan, part.blocks));
    EXPECT_EQ(holds_one_end(part.program, part.blocks), stage != 1) << stage;
  }
}

TEST(TiedEmbedding, AHeadWithATableOfItsOwnSharesNone) {
  for (const std::int64_t pp : {1, 3}) {
    const Lowered own = lowered(kUntied, pp, 0);
    EXPECT_FALSE(ties_embedding(own.blocks));
    EXPECT_FALSE(holds_both_ends(own.program.plan, own.blocks));
    EXPECT_FALSE(holds_one_end(own.program, own.blocks));
  }
}

TEST(TiedEmbedding, TheHeadsUseOfTheTableIsNotTheEmbeddingsOwn) {
  const ProgramBlocks blocks = lowered(kTied, 1, 0).blocks;
  int own = 0;
  int used = 0;
  for (const ProgramBlock& block : blocks.blocks) {
    for (const LocalParameter& parameter : block.sharded.parameters) {
      own += is_embedding_table(parameter) ? 1 : 0;
      used += is_token_table(parameter) ? 1 : 0;
    }
  }
  EXPECT_EQ(own, 1);
  EXPECT_EQ(used, 2);
}

}  // namespace
}  // namespace fourhold::plan

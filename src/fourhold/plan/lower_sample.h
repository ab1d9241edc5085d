// The programs that generate text: the forward of training's own operations, with keys and values
// kept from token to token, and the logits of one token instead of a loss.
//
// A run reads its prompt but for the last token in passes of `prompt_tokens` at a time (pass 0, no
// head), then that last token and every one it chooses in passes of one (the last pass). Both share
// weights and caches, and lie in one arena.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/program.h"

namespace fourhold::plan {

// Reading more of a prompt at once gains nothing: the weights are read once for all of them.
inline constexpr std::int64_t kMostPromptTokens = 64;

struct SampleSizes {
  std::int64_t prompt_tokens = 0;  // of each sequence in a pass over the prompt; 0: no such pass
};

// `blocks` of ProgramKind::sample, whose program runs `tokens` new tokens of each sequence.
struct SamplePass {
  ProgramBlocks blocks;
  Program program;
  std::int64_t tokens = 1;
};

// One device: plan.micro_batch sequences of at most plan.seq tokens each, prompt and answer
// together; weights in the plan's compute type, none of them trained; a profile of fused
// attention. The last pass is the one that
// chooses; a pass over the prompt comes before it. Throws Error where sizes leave 64 bits.
[[nodiscard]] std::vector<SamplePass> lower_sample(const model::ModelConfig& config,
                                                   const Plan& plan, const Profile& profile,
                                                   const SampleSizes& sizes);

// A block's forward over the tokens it was made for. Of the head what follows the logits is left
// out; attention appends to caches of `cache_rows` tokens, two tensors of category kv_cache.
[[nodiscard]] ProgramBlock lower_sample_block(ShardedBlock block, std::int64_t cache_rows);

}  // namespace fourhold::plan

// What a command takes where its user gives nothing, in one place for all commands. What depends on
// the plan alone (degrees 1, micro-batch 1, bf16, AdamW ...) is filled in by plan::complete.
#pragma once

#include <cstdint>

#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

// A run that takes longer than this takes too long where no deadline is given.
inline constexpr double kUsualDeadlineDays = 120;

// Tokens per optimizer step of a search: "a global batch-size of 4M tokens", of every size of Llama
// and Llama 2 (arXiv:2302.13971, section 2.2; arXiv:2307.09288, section 2.2).
inline constexpr std::int64_t kUsualBatchTokens = std::int64_t{1} << 22;

// The model's longest sequence, at most 4096.
[[nodiscard]] std::int64_t usual_seq(const model::ModelConfig& model);

// The power of two of sequences of `seq` >= 1 tokens that is nearest to kUsualBatchTokens, as a
// ratio; at least 1.
[[nodiscard]] std::int64_t usual_sequences(std::int64_t seq);

// The global batch of a search; `seq` and `count` are given. micro_batch x grad_accum x dp where
// all three are given; otherwise usual_sequences, whatever the count is, but where replicas could
// not divide it: then the nearest to it among the powers of two times what is given of the three
// and the odd part of the replicas there may be.
[[nodiscard]] std::int64_t usual_global_batch(const plan::PlanRequest& request);

}  // namespace fourhold::api

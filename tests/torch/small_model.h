// The models, data and settings that the engine and torch both run.
#pragma once

#include <cstdint>
#include <string>

#include "fourhold/engine/train/step.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine::torch_oracle {

// llama: three query heads to a key-value head. mistral: the same with a sliding window.
enum class Family : std::uint8_t { gpt2, llama, mistral };

// config.json: three layers, 331 token ids, every form that GPT-2 and Llama have.
[[nodiscard]] std::string config_text(Family family);

inline constexpr std::int64_t kVocabulary = 331;
inline constexpr std::int64_t kSeq = 80;  // more than a block of the attention kernels, and no two
inline constexpr std::int64_t kMicroBatch = 2;
inline constexpr std::int64_t kMicroBatches = 4;  // the first, two that repeat, the last
inline constexpr std::int64_t kBatch = kMicroBatch * kMicroBatches;
inline constexpr std::int64_t kSteps = 20;

// On this machine's best instructions; Llama's loss in chunks. One thread: its numbers are those of
// any, and threads that wait for each other take minutes where the machine is busy.
[[nodiscard]] plan::Plan small_plan(Family family, plan::Precision precision);

// Warm-up, cosine, decay and a norm that is clipped: everything a step can do.
[[nodiscard]] StepOptions step_options();

// Writes a token file in nanoGPT's format, uint16 without a header, and returns its path. Seven
// tokens in eight follow from the one before, so that there is something to learn in twenty steps.
[[nodiscard]] std::string write_tokens(const std::string& folder);

}  // namespace fourhold::engine::torch_oracle

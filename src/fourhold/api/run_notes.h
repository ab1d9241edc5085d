// What a reader of a predicted run must know beside its numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/api/plan_choice.h"
#include "fourhold/model/trainable.h"
#include "fourhold/plan/profile.h"

namespace fourhold::api {

// Who trains adapters. No full stop.
inline constexpr std::string_view kAdaptersElsewhere =
    "adapters are planned here and trained elsewhere: Hugging Face PEFT and LitGPT run them "
    "(--profile peft or litgpt predicts their bytes), Fourhold's own engine does not";

// Adds notes on: adapters, ZeRO over one rank (it changes nothing), logits that outweigh the other
// activations, a precision whose updates are lost, an allocator at the end of the device, and a
// start-up that needs more than the device has and than the step.
void add_run_notes(const PlannedRun& planned, const plan::Profile& profile,
                   std::vector<std::string>& notes);

// What a run with adapters trains, counted; nothing where all weights are trained.
[[nodiscard]] std::optional<model::TrainableCounts> trainable_of(const model::ModelConfig& model,
                                                                 const plan::Plan& plan,
                                                                 const plan::Profile& profile);
// "1,572,864 of 1,419,843,584 parameters are trained (0.11%)", where it is not all of them.
void add_trainable_note(const std::optional<model::TrainableCounts>& counts,
                        std::vector<std::string>& notes);

// Where adapters leave routed experts out: that, and how much there would be beside them.
void add_experts_note(const model::ModelConfig& model, const plan::Plan& plan,
                      std::vector<std::string>& notes);

// The note on ZeRO alone, for runs without a model.
void add_zero_note(const plan::Plan& plan, std::vector<std::string>& notes);

}  // namespace fourhold::api

// The parts of validate(), for those who build a plan step by step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::plan {

// Throws the Error of a field with the whole plan in its text.
[[noreturn]] void refuse(const Plan& plan, std::string_view field, const std::string& fault,
                         const std::string& hint);

// Throws the Error of a plan whose tensors' sizes leave 64 bits (base/checked.h): what multiplies.
[[noreturn]] void refuse_size(const Plan& plan);

// Each number within the range of its field; the devices within what `count` may be.
void check_ranges(const Plan& plan);

// Whether grad_accum and dp are what a batch must be a multiple of, or micro_batch and dp.
enum class BatchStep : std::uint8_t { micro_batch, grad_accum };

// Throws the Error of a global batch that does not multiply out: the nearest two that do.
[[noreturn]] void refuse_batch(const Plan& plan, BatchStep step);

// What is said of adapters: that there are any, the base beside them, what has one.
void check_tuning(const Plan& plan, const model::ModelConfig& config);

// A moment has a format of its own only where the optimizer keeps it whole, as one number for each
// parameter.
void check_moments(const Plan& plan);

// Degrees that the model's heads, widths, experts and sequences allow.
void check_model(const Plan& plan, const model::ModelConfig& config);

}  // namespace fourhold::plan

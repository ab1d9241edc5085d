// In which number format an optimizer keeps a moment.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "fourhold/plan/field_info.h"

namespace fourhold::plan {

// `automatic` is what the profile says, and where it says nothing fp32, or the compute type where
// nothing is fp32 (WeightStorage::compute_only). `fp8` is one byte with one fp32 scale per 128
// values (IST-DASLab/llmq, src/models/llama_optimizer.cpp: allocate_scales).
enum class MomentFormat : std::uint8_t { automatic, fp32, bf16, fp8 };
inline constexpr std::array<std::string_view, 4> kMomentFormatNames{"auto", "fp32", "bf16", "fp8"};

template <>
inline constexpr std::span<const std::string_view> kEnumNames<MomentFormat>{kMomentFormatNames};

}  // namespace fourhold::plan

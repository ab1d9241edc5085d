// `fourhold stall`: how many updates a checkpoint would lose without a master copy. The engine's
// program answers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fourhold/api/option.h"
#include "fourhold/plan/field_info.h"

namespace fourhold::api {

enum class StallFormat : std::uint8_t { fp32, bf16, fp16 };
inline constexpr std::array<std::string_view, 3> kStallFormatNames{"fp32", "bf16", "fp16"};

struct StallRequest {
  std::string model;  // safetensors file, index or folder
  std::optional<double> lr;
  std::optional<double> weight_decay;
  std::optional<StallFormat> dtype;
};

}  // namespace fourhold::api

namespace fourhold::plan {
template <>
inline constexpr std::span<const std::string_view> kEnumNames<api::StallFormat>{
    api::kStallFormatNames};
}  // namespace fourhold::plan

namespace fourhold::api {

template <class Visitor>
void visit_options(Visitor&& visit, StallRequest& request) {
  visit(Option{{"model",
                "weights: a .safetensors file, its .index.json, or a folder that holds them"},
               OptionGroup::operand,
               ValueKind::file,
               "MODEL.safetensors"},
        request.model);
  visit(Option{{"lr", "learning rate of the updates, such as 1e-5", {}, {1e-30, 1e6}},
               OptionGroup::question,
               ValueKind::number},
        request.lr);
  visit(Option{{"weight_decay", "decay beside it; 0 if not given", {}, {0, 1e6}},
               OptionGroup::question,
               ValueKind::number},
        request.weight_decay);
  visit(Option{{"dtype", "format the weights would be updated in; bf16 if not given"},
               OptionGroup::question,
               ValueKind::choice},
        request.dtype);
}

}  // namespace fourhold::api

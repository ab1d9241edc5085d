// What a tensor is held for. Every entry has one category; there is no default.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fourhold::ledger {

enum class Category : std::uint8_t {
  weight,
  gathered_weight,  // a ZeRO-3 or offloaded block, whole for the moment it is used
  packed_weight,    // a weight laid out for the GEMM
  master_weight,    // fp32 master copy, its lower half, or a compensation term
  gradient,
  optimizer_state,
  saved_activation,  // lives from forward to backward
  activation_gradient,
  scratch,  // lives within one step
  communication,
  input,  // token ids and targets
  other,
};
inline constexpr int kCategoryCount = 12;

[[nodiscard]] constexpr std::string_view to_string(Category category) {
  constexpr std::array<std::string_view, kCategoryCount> texts{"weight",
                                                               "gathered_weight",
                                                               "packed_weight",
                                                               "master_weight",
                                                               "gradient",
                                                               "optimizer_state",
                                                               "saved_activation",
                                                               "activation_gradient",
                                                               "scratch",
                                                               "communication",
                                                               "input",
                                                               "other"};
  return texts[static_cast<std::size_t>(category)];
}

}  // namespace fourhold::ledger

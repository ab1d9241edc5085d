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
  kv_cache,  // keys and values of the tokens read so far: of a program that generates text
};
inline constexpr int kCategoryCount = 13;

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
                                                               "other",
                                                               "kv_cache"};
  return texts[static_cast<std::size_t>(category)];
}

// Whether a training run may hold any. Lists of all categories leave out what is zero and is not:
// answers about training do not speak of caches.
[[nodiscard]] constexpr bool held_in_training(Category category) {
  return category != Category::kv_cache;
}

}  // namespace fourhold::ledger

// The name under which an entry is booked while planning and fetched while running.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace fourhold::ledger {

// What an entry is to the tensor it is named after.
enum class Role : std::uint8_t {
  value,
  gradient,        // the accumulator
  whole_gradient,  // a block's, before it is reduced to its owners
  master,
  moment1,
  moment2,
  scale,        // block scales of a quantised tensor
  outer_scale,  // scales of those, doubly quantised
  gathered,     // whole copy of a sharded tensor
  packed,
  transient,  // lives inside one operation
  buffer,     // staging for communication or offload
};
inline constexpr int kRoleCount = 12;

[[nodiscard]] constexpr std::string_view to_string(Role role) {
  constexpr std::array<std::string_view, kRoleCount> texts{
      "value", "gradient",    "whole_gradient", "master", "moment1",   "moment2",
      "scale", "outer_scale", "gathered",       "packed", "transient", "buffer"};
  return texts[static_cast<std::size_t>(role)];
}

// Texts are views of names that outlive the ledger (tables of names, or the pool that a ledger
// shares with its copies), so a key is cheap to copy and nothing is spelled until it is printed.
struct Key {
  static constexpr std::int32_t kNone = -1;

  std::string_view block{};          // "embedding", "layer", "head", "step"
  std::string_view name{};           // "q_weight", "norm1_out"
  std::string_view variant{};        // "", "lora_a", "whole" ...
  std::int32_t layer = kNone;        // first layer the entry stands for; kNone outside layers
  std::int32_t micro_batch = kNone;  // kNone for what is not per micro-batch, and in compact form
  Role role = Role::value;

  friend bool operator==(const Key&, const Key&) = default;
};

// By block, name, variant, layer, micro-batch, role. Not defaulted: the string_view of older libc++
// has no <=>.
[[nodiscard]] std::strong_ordering operator<=>(const Key& a, const Key& b);

// "layer.3.q_weight", "layer.3.norm1_out.gradient@mb2", "head.logits".
[[nodiscard]] std::string to_string(const Key& key);

}  // namespace fourhold::ledger

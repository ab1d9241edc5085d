// Which saved tensors a plan drops in forward and makes again in backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/base/inline_vector.h"
#include "fourhold/model/operations.h"

namespace fourhold::plan {

inline constexpr std::size_t kRecomputeGroups = 7;

enum class RecomputeKind : std::uint8_t { none, selective, full };

// `none`; `selective` (the attention core);
// `selective:attention,norm,activation,experts,alternate,mlp,qkv`; `full`; `full:K` (the first K
// layers of each rank fully, the others not at all).
struct RecomputePolicy {
  RecomputeKind kind = RecomputeKind::none;
  InlineVector<model::RecomputeGroup, kRecomputeGroups> groups;  // selective: what is dropped
  std::int64_t full_layers = -1;                                 // full: K, or -1 for all
  [[nodiscard]] bool drops(model::RecomputeGroup group) const {
    return kind == RecomputeKind::selective && groups.contains(group);
  }
};
[[nodiscard]] bool operator==(const RecomputePolicy& a, const RecomputePolicy& b);

// The policy of one layer of a rank, by its place among the rank's layers: full:K is full for the
// first K and none for the rest.
[[nodiscard]] RecomputePolicy policy_of_layer(const RecomputePolicy& policy,
                                              std::int64_t index_on_rank);

// Throws Error naming `recompute` and the legal values.
[[nodiscard]] RecomputePolicy recompute_from_string(std::string_view text);
[[nodiscard]] std::string to_string(const RecomputePolicy& policy);

}  // namespace fourhold::plan

// Which saved tensors a plan drops in forward and makes again in backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/inline_vector.h"
#include "fourhold/model/operations.h"

namespace fourhold::plan {

inline constexpr std::size_t kRecomputeGroups = 7;

enum class RecomputeKind : std::uint8_t { none, selective, full, saved };

// What a policy that makes a layer again may keep of it (MaxText's checkpoint names: query_proj,
// key_proj, value_proj; context; out_proj; mlpwi_0, mlpwi_1; mlpwo).
enum class SavedGroup : std::uint8_t {
  qkv,      // what attention reads: rotated, normalised
  context,  // what attention makes
  out,      // the output projection's result
  mlpwi,    // gate and up, before the activation
  mlpwo     // the down projection's result
};
inline constexpr int kSavedGroups = 5;

// `none`; `selective` (the attention core);
// `selective:attention,norm,activation,experts,alternate,mlp,qkv`; `full`; `full:K` (the first K
// layers of each rank fully, the others not at all); `save:qkv,context,out,mlpwi,mlpwo`: layers
// fully but for these, or by MaxText's names of such sets (minimal, save_qkv_proj ...).
struct RecomputePolicy {
  RecomputeKind kind = RecomputeKind::none;
  // selective: what is dropped, in enum order
  InlineVector<model::RecomputeGroup, kRecomputeGroups> groups;
  std::int64_t full_layers = -1;  // full: K, or -1 for all
  std::uint8_t saved = 0;         // saved: one bit for each SavedGroup
  [[nodiscard]] bool drops(model::RecomputeGroup group) const {
    return kind == RecomputeKind::selective && groups.contains(group);
  }
  [[nodiscard]] bool saves(SavedGroup group) const {
    return kind == RecomputeKind::saved && ((saved >> static_cast<int>(group)) & 1) != 0;
  }
  // Whether layers are made again as a whole.
  [[nodiscard]] bool remakes_layers() const {
    return kind == RecomputeKind::full || kind == RecomputeKind::saved;
  }
};
[[nodiscard]] bool operator==(const RecomputePolicy& a, const RecomputePolicy& b);

// The policy of one layer of a rank, by its place among the rank's layers: full:K is full for the
// first K and none for the rest.
[[nodiscard]] RecomputePolicy policy_of_layer(const RecomputePolicy& policy,
                                              std::int64_t index_on_rank);

// MaxText's names of sets to save, most saved first, such as "minimal_with_context".
[[nodiscard]] std::vector<std::string_view> saved_set_names();

// Throws Error naming `recompute` and the legal values.
[[nodiscard]] RecomputePolicy recompute_from_string(std::string_view text);
[[nodiscard]] std::string to_string(const RecomputePolicy& policy);

}  // namespace fourhold::plan

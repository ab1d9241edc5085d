// The splits that are tried, each alone and in combination.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "fourhold/plan/plan.h"

namespace fourhold::engine::testing {

struct NamedSplit {
  std::string name;  // letters, digits and underscores
  plan::Plan plan;
};
inline void PrintTo(const NamedSplit& split, std::ostream* out) { *out << split.name; }

[[nodiscard]] std::vector<NamedSplit> data_splits();
[[nodiscard]] std::vector<NamedSplit> tensor_splits();
[[nodiscard]] std::vector<NamedSplit> context_splits();
[[nodiscard]] std::vector<NamedSplit> pipeline_splits();
// Of two and more kinds, on two, three, four and eight ranks.
[[nodiscard]] std::vector<NamedSplit> combined_splits();
[[nodiscard]] std::vector<NamedSplit> all_splits();

}  // namespace fourhold::engine::testing

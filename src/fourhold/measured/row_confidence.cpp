#include "fourhold/measured/row_confidence.h"

#include <cmath>
#include <utility>

namespace fourhold::measured {
namespace {

constexpr int kMemoryKey = -1;  // beside the metrics

confidence::ResidualQuery others_of(const RowResult& row) {
  return {.profile = row.profile, .generation = row.generation, .left_out_model = row.model};
}

}  // namespace

const RowConfidence::Known& RowConfidence::of_metric(const RowResult& row, Metric metric) {
  const Key key{row.profile, row.generation, row.model, static_cast<int>(metric)};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Known known{.basis = table_.basis(others_of(row), metric), .ratios = {}};
  if (known.basis) known.ratios = confidence::interval_of(known.basis->residuals, 1);
  return known_.emplace(key, std::move(known)).first->second;
}

const RowConfidence::Known& RowConfidence::of_memory(const RowResult& row) {
  const Key key{row.profile, row.generation, row.model, kMemoryKey};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_.emplace(key, Known{.basis = table_.memory_basis(others_of(row)), .ratios = {}})
      .first->second;
}

void RowConfidence::judge(RowResult& row) {
  for (Comparison& one : row.comparisons) {
    const Known& known = of_metric(row, one.metric);
    if (!known.basis) continue;
    one.interval = confidence::Interval{.low = one.predicted * known.ratios.low,
                                        .middle = one.predicted * known.ratios.middle,
                                        .high = one.predicted * known.ratios.high};
  }
  if (!row.predicted_fit || row.needed_gib <= 0) return;
  const Known& memory = of_memory(row);
  if (!memory.basis) return;
  row.fit_probability =
      confidence::probability_within(*memory.basis, row.needed_gib, row.usable_gib);
}

confidence::ResidualTable residuals_of(const std::vector<RowResult>& rows) {
  using Key = std::tuple<std::string, std::string, Metric, std::string>;
  std::map<Key, std::vector<double>> groups;
  for (const RowResult& row : rows) {
    for (const Comparison& one : row.comparisons) {
      if (!one.set_apart.empty() || one.predicted <= 0) continue;
      groups[{row.profile, row.generation, one.metric, row.model}].push_back(
          std::log(one.measured / one.predicted));
    }
  }
  std::vector<confidence::ResidualEntry> entries;
  entries.reserve(groups.size());
  for (auto& [key, log_ratios] : groups) {
    const auto& [profile, generation, metric, model] = key;
    entries.push_back({.profile = profile,
                       .generation = generation,
                       .metric = metric,
                       .model = model,
                       .rows = static_cast<std::int64_t>(log_ratios.size()),
                       .log_ratios = confidence::thinned(std::move(log_ratios))});
  }
  return confidence::ResidualTable(std::move(entries));
}

}  // namespace fourhold::measured

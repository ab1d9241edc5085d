#include "fourhold/confidence/residual_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"

namespace fourhold::confidence {
namespace {

// The entries of one model under one profile.
struct ModelEntries {
  std::vector<const ResidualEntry*> entries;
  std::int64_t rows = 0;
};

}  // namespace

ResidualTable::ResidualTable(std::vector<ResidualEntry> entries) : entries_(std::move(entries)) {}

std::optional<Basis> ResidualTable::basis_within(const ResidualQuery& query, Metric metric,
                                                 Scope scope) const {
  std::map<std::string_view, std::map<std::string_view, ModelEntries>> profiles;
  std::set<std::string_view> all_models;
  std::int64_t rows = 0;
  for (const ResidualEntry& entry : entries_) {
    if (entry.metric != metric) continue;
    if (scope != Scope::all_profiles && entry.profile != query.profile) continue;
    if (scope == Scope::profile_and_generation && entry.generation != query.generation) continue;
    all_models.insert(entry.model);
    if (entry.model == query.left_out_model) continue;
    ModelEntries& model = profiles[entry.profile][entry.model];
    model.entries.push_back(&entry);
    model.rows += entry.rows;
    rows += entry.rows;
  }
  const bool is_last = scope == Scope::all_profiles;
  if (rows < (is_last ? 1 : kLeastRows)) return std::nullopt;
  if (!is_last && all_models.size() < kLeastModels) return std::nullopt;
  std::vector<ResidualPart> parts;
  std::int64_t models = 0;
  for (const auto& [profile, of_profile] : profiles) {
    models += static_cast<std::int64_t>(of_profile.size());
    for (const auto& [name, model] : of_profile) {
      for (const ResidualEntry* entry : model.entries) {
        const double share = static_cast<double>(entry->rows) / static_cast<double>(model.rows);
        parts.push_back({.weight = share / static_cast<double>(of_profile.size()),
                         .log_ratios = entry->log_ratios});
      }
    }
  }
  Basis basis{.residuals = ResidualMixture(std::move(parts)),
              .scope = scope,
              .metric = metric,
              .profile = {},
              .generation = {},
              .rows = rows,
              .models = models};
  if (scope != Scope::all_profiles) basis.profile = query.profile;
  if (scope == Scope::profile_and_generation) basis.generation = query.generation;
  return basis;
}

std::optional<Basis> ResidualTable::basis(const ResidualQuery& query, Metric metric) const {
  for (const Scope scope : {Scope::profile_and_generation, Scope::profile, Scope::all_profiles}) {
    if (std::optional<Basis> found = basis_within(query, metric, scope)) return found;
  }
  return std::nullopt;
}

std::optional<Basis> ResidualTable::memory_basis(const ResidualQuery& query) const {
  for (const Metric metric : {Metric::memory_reserved, Metric::memory_allocated}) {
    for (const Scope scope : {Scope::profile_and_generation, Scope::profile}) {
      if (std::optional<Basis> found = basis_within(query, metric, scope)) return found;
    }
  }
  return basis_within(query, Metric::memory_reserved, Scope::all_profiles);
}

double most_confidence(const Basis& basis) {
  const auto rows = static_cast<double>(basis.rows);
  return rows / (rows + 1);
}

double probability_within(const Basis& basis, double predicted, double limit) {
  const double most = most_confidence(basis);
  return std::clamp(probability_within(basis.residuals, predicted, limit), 1 - most, most);
}

std::string basis_text(const Basis& basis) {
  std::string text = fmt::format(
      "{} of {} under {}",
      basis.rows == 1 ? std::string("1 run") : format_count(basis.rows) + " runs",
      counted(basis.models, "model"), basis.profile.empty() ? "all profiles" : basis.profile);
  if (!basis.generation.empty()) text += " on " + basis.generation;
  return text;
}

std::vector<double> thinned(std::vector<double> log_ratios) {
  std::sort(log_ratios.begin(), log_ratios.end());
  const std::size_t count = std::min(log_ratios.size(), kMostQuantiles);
  std::vector<double> kept;
  kept.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    double value = log_ratios[i];
    if (count < log_ratios.size()) {
      const double position = static_cast<double>(i * (log_ratios.size() - 1)) /
                              static_cast<double>(kMostQuantiles - 1);
      const auto below = static_cast<std::size_t>(position);
      const std::size_t above = std::min(below + 1, log_ratios.size() - 1);
      value = log_ratios[below] +
              (position - static_cast<double>(below)) * (log_ratios[above] - log_ratios[below]);
    }
    constexpr double kDigits = 1e4;
    kept.push_back(std::round(value * kDigits) / kDigits);
  }
  return kept;
}

}  // namespace fourhold::confidence

// Figures of lists of numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fourhold::measured {

// Of errors in percent.
struct ErrorFigures {
  std::int64_t count = 0;
  double median_abs = 0;
  double mean_abs = 0;
  double p90_abs = 0;
  double worst_abs = 0;
  double bias = 0;  // mean of the signed errors
};
[[nodiscard]] ErrorFigures figures_of(const std::vector<double>& errors);

// The value below which `share` of the sorted list lies, between neighbours in proportion (the
// usual definition: position share x (n - 1)). The list is not empty.
[[nodiscard]] double quantile(std::vector<double> values, double share);

// Spearman's rank correlation: Pearson's of the ranks, where equal values share the mean of their
// ranks. Nothing for fewer than two pairs, or where all values of a side are equal.
[[nodiscard]] std::optional<double> rank_correlation(const std::vector<double>& a,
                                                     const std::vector<double>& b);

}  // namespace fourhold::measured

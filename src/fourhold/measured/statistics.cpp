#include "fourhold/measured/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace fourhold::measured {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// From 1; equal values share the mean of their ranks.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&values](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) {
      ranks[order[i]] = 1 + static_cast<double>(first + last) / 2;
    }
    first = last + 1;
  }
  return ranks;
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

ErrorFigures figures_of(const std::vector<double>& errors) {
  ErrorFigures figures;
  if (errors.empty()) return figures;
  std::vector<double> sizes;
  sizes.reserve(errors.size());
  for (const double error : errors) sizes.push_back(std::abs(error));
  constexpr double kNinetieth = 0.9;
  figures.count = static_cast<std::int64_t>(errors.size());
  figures.median_abs = quantile(sizes, 0.5);
  figures.mean_abs = mean(sizes);
  figures.p90_abs = quantile(sizes, kNinetieth);
  figures.worst_abs = *std::max_element(sizes.begin(), sizes.end());
  figures.bias = mean(errors);
  return figures;
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.size() < 2) return std::nullopt;
  const std::vector<double> ranks_a = ranks_of(a);
  const std::vector<double> ranks_b = ranks_of(b);
  const double middle = mean(ranks_a);  // the same of both
  double both = 0;
  double square_a = 0;
  double square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = ranks_a[i] - middle;
    const double y = ranks_b[i] - middle;
    both += x * y;
    square_a += x * x;
    square_b += y * y;
  }
  if (square_a <= 0 || square_b <= 0) return std::nullopt;
  return both / std::sqrt(square_a * square_b);
}

}  // namespace fourhold::measured

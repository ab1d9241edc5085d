#include "tests/interpreter/reference_math.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourhold::interpreter {

using model::ActivationKind;
using model::NormKind;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double activate(ActivationKind kind, double x) {
  if (kind == ActivationKind::relu) return std::max(x, 0.0);
  if (kind == ActivationKind::silu) return x * sigmoid(x);
  return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
}

Row sum_of(const Row& a, const Row& b) {
  Row sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}

Rows sum_of(const Rows& a, const Rows& b) {
  Rows sum;
  for (std::size_t t = 0; t < a.size(); ++t) sum.push_back(sum_of(a[t], b[t]));
  return sum;
}

Row slice(const Row& row, std::int64_t first, std::int64_t count) {
  return {row.begin() + first, row.begin() + first + count};
}

Row rotate(const Row& row, std::size_t position) {
  Row turned = row;
  const std::size_t half = row.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(row.size());
    const double angle = static_cast<double>(position) * std::pow(10000.0, exponent);
    turned[i] = row[i] * std::cos(angle) - row[i + half] * std::sin(angle);
    turned[i + half] = row[i] * std::sin(angle) + row[i + half] * std::cos(angle);
  }
  return turned;
}

Row apply(const Row& matrix, const Row* bias, const Row& x) {
  Row y(matrix.size() / x.size(), 0.0);
  for (std::size_t o = 0; o < y.size(); ++o) {
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += matrix[o * x.size() + i] * x[i];
    if (bias != nullptr) y[o] += (*bias)[o];
  }
  return y;
}

Row normalise(const Row& x, NormKind kind, const Row* weight, const Row* bias) {
  const auto width = static_cast<double>(x.size());
  const double mean =
      kind == NormKind::layer_norm ? std::accumulate(x.begin(), x.end(), 0.0) / width : 0.0;
  double variance = 0;
  for (const double value : x) variance += (value - mean) * (value - mean) / width;
  Row y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    y.push_back((x[i] - mean) / std::sqrt(variance + 1e-5));
    if (weight != nullptr) y[i] *= (*weight)[i];
    if (bias != nullptr) y[i] += (*bias)[i];
  }
  return y;
}

}  // namespace fourhold::interpreter

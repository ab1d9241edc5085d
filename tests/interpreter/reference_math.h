// The few formulas of the reference model, on rows of plain numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/model/model_config.h"

namespace fourhold::interpreter {

using Row = std::vector<double>;
using Rows = std::vector<Row>;  // one row per position

[[nodiscard]] double sigmoid(double x);
[[nodiscard]] double activate(model::ActivationKind kind, double x);
[[nodiscard]] Row sum_of(const Row& a, const Row& b);
[[nodiscard]] Rows sum_of(const Rows& a, const Rows& b);
[[nodiscard]] Row slice(const Row& row, std::int64_t first, std::int64_t count);
// Turns the pairs (i, i + half) of a row by position x 10000^(-2i / width).
[[nodiscard]] Row rotate(const Row& row, std::size_t position);
// matrix [out, in] times x, plus the bias if there is one.
[[nodiscard]] Row apply(const Row& matrix, const Row* bias, const Row& x);
// (x - mean) / sqrt(variance + 1e-5), without the mean for RMS; weight and bias may be missing.
[[nodiscard]] Row normalise(const Row& x, model::NormKind kind, const Row* weight, const Row* bias);

}  // namespace fourhold::interpreter

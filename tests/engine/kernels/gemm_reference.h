// A problem with random data, its exact answer in double precision, and guarded memory to run in.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fourhold/engine/kernels/gemm.h"

namespace fourhold::engine {

// Bytes between two guards; the start is aligned to 64 bytes.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    storage_.assign(bytes_ + 2 * kGuard + 64, kCanary);
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    start_ = (64 - address % 64) % 64 + kGuard;
  }
  [[nodiscard]] std::span<std::byte> bytes() { return {storage_.data() + start_, bytes_}; }
  [[nodiscard]] bool guards_untouched() const {
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      if (i >= start_ && i < start_ + bytes_) continue;
      if (storage_[i] != kCanary) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 4096;
  static constexpr std::byte kCanary{0xa5};
  std::size_t bytes_;
  std::size_t start_ = 0;
  std::vector<std::byte> storage_;
};

inline double element(const Tensor& tensor, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  return tensor.dtype == DType::bf16 ? static_cast<double>(to_float(tensor.as<Bf16>()[at]))
                                     : static_cast<double>(tensor.as<float>()[at]);
}

// Inputs of a problem, drawn from a normal distribution, each in guarded memory.
class GemmCase {
 public:
  explicit GemmCase(const GemmProblem& problem, unsigned seed = 1)
      : problem_(problem),
        sizes_(plan::product_sizes(problem.form, problem.sizes)),
        left_(make(sizes_.rows * sizes_.depth, problem.operands)),
        right_(make(sizes_.columns * sizes_.depth, problem.operands)),
        output_(make(sizes_.rows * sizes_.columns, problem.output)),
        bias_(make(problem.bias ? sizes_.columns : 0, problem.bias.value_or(DType::fp32))),
        residual_(make(problem.residual ? sizes_.rows * sizes_.columns : 0,
                       problem.residual.value_or(DType::fp32))) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    const GemmOperands all = operands();
    for (const Tensor& tensor : {all.left, all.right, all.output, all.bias, all.residual}) {
      if (tensor.data == nullptr) continue;
      for (std::int64_t i = 0; i < tensor.elements(); ++i) {
        const float value = normal(generator);
        const auto at = static_cast<std::size_t>(i);
        if (tensor.dtype == DType::bf16) {
          tensor.as<Bf16>()[at] = to_bf16(value);
        } else {
          tensor.as<float>()[at] = value;
        }
      }
    }
    expect();
  }

  [[nodiscard]] GemmOperands operands() {
    const auto view = [](GuardedBytes& bytes, DType dtype, std::int64_t rows,
                         std::int64_t columns) {
      return Tensor{bytes.bytes().empty() ? nullptr : bytes.bytes().data(), dtype, {rows, columns}};
    };
    const auto& [rows, columns, depth] = sizes_;
    return {view(left_, problem_.operands, rows, depth),
            view(right_, problem_.operands, columns, depth),
            view(output_, problem_.output, rows, columns),
            view(bias_, problem_.bias.value_or(DType::fp32), 1, columns),
            view(residual_, problem_.residual.value_or(DType::fp32), rows, columns)};
  }

  // Runs in guarded scratch of exactly `scratch_bytes`, then compares and looks at all guards.
  void run_and_check(const Gemm& gemm, std::int64_t scratch_bytes) {
    GuardedBytes scratch(scratch_bytes);
    gemm.run(operands(), scratch.bytes());
    EXPECT_TRUE(scratch.guards_untouched()) << "scratch";
    for (const GuardedBytes* bytes : {&left_, &right_, &output_, &bias_, &residual_}) {
      EXPECT_TRUE(bytes->guards_untouched());
    }
    const Tensor output = operands().output;
    for (std::int64_t i = 0; i < output.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_NEAR(element(output, i), expected_[at], tolerance_[at])
          << "row " << i / sizes_.columns << ", column " << i % sizes_.columns;
    }
  }

  [[nodiscard]] std::vector<std::byte> output_bytes() {
    const auto bytes = output_.bytes();
    return {bytes.begin(), bytes.end()};
  }

 private:
  static GuardedBytes make(std::int64_t elements, DType dtype) {
    return GuardedBytes(bytes_of(elements, dtype));
  }

  // The answer by definition, and how far fp32 sums may be from it: K + 4 roundings of partial sums
  // no larger than the sum of magnitudes, 2^-24 relative each (an upper bound, Higham, "Accuracy
  // and Stability of Numerical Algorithms", section 3.1), then one rounding to the output's dtype,
  // half a unit of 8 significant bits for bf16: 2^-8 relative.
  void expect() {
    const GemmOperands all = operands();
    const auto& [rows, columns, depth] = sizes_;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        double sum = 0;
        double magnitude = 0;
        const auto add = [&](double addend) {
          sum += addend;
          magnitude += std::abs(addend);
        };
        for (std::int64_t d = 0; d < depth; ++d) {
          const bool left_transposed = problem_.form == GemmForm::backward_weight;
          const bool right_transposed = problem_.form != GemmForm::forward;
          add(element(all.left, left_transposed ? d * rows + r : r * depth + d) *
              element(all.right, right_transposed ? d * columns + c : c * depth + d));
        }
        if (all.bias.data != nullptr) add(element(all.bias, c));
        if (all.residual.data != nullptr) add(element(all.residual, r * columns + c));
        if (problem_.destination == Destination::accumulate) {
          add(element(all.output, r * columns + c));
        }
        const double rounding =
            problem_.output == DType::bf16 ? std::ldexp(std::abs(sum), -8) : 0.0;
        expected_.push_back(sum);
        tolerance_.push_back(static_cast<double>(depth + 4) * std::ldexp(magnitude, -24) * 1.01 +
                             rounding * 1.01);
      }
    }
  }

  GemmProblem problem_;
  plan::ProductSizes sizes_;
  GuardedBytes left_;
  GuardedBytes right_;
  GuardedBytes output_;
  GuardedBytes bias_;
  GuardedBytes residual_;
  std::vector<double> expected_;
  std::vector<double> tolerance_;
};

}  // namespace fourhold::engine

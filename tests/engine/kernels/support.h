// Tensors with guards, processors' instruction sets, and comparisons for the tests of kernels.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// Instruction sets this machine has, of those that kernels here are written for.
inline std::vector<Isa> isas() {
  std::vector<Isa> found{Isa::portable};
  if ((hwy::SupportedTargets() & HWY_AVX2) != 0) found.push_back(Isa::avx2);
  if ((hwy::SupportedTargets() & HWY_AVX3) != 0) found.push_back(Isa::avx512);
  return found;
}

inline constexpr DType kComputeTypes[] = {DType::fp32, DType::bf16};

// Relative error of rounding once to a type: half a unit in the last place, of 8 and 24 digits.
inline double rounding_of(DType dtype) {
  return dtype == DType::bf16 ? std::ldexp(1.0, -8) : std::ldexp(1.0, -24);
}

// A tensor with storage of its own between two guards, which the destructor checks.
class Values {
 public:
  Values(DType dtype, Dims dims) : dtype_(dtype), dims_(dims) {
    storage_.assign(static_cast<std::size_t>(2 * kGuard + bytes_of(dims.elements(), dtype)),
                    std::byte{kPattern});
  }
  Values(const Values&) = default;
  Values(Values&&) = default;
  Values& operator=(const Values&) = default;
  Values& operator=(Values&&) = default;
  ~Values() {
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      const bool guard = i < kGuard || i + kGuard >= storage_.size();
      if (guard && storage_[i] != std::byte{kPattern}) {
        ADD_FAILURE() << "a kernel wrote outside its tensor";
        break;
      }
    }
  }

  [[nodiscard]] Tensor tensor() { return {storage_.data() + kGuard, dtype_, dims_}; }
  [[nodiscard]] std::int64_t size() const { return dims_.elements(); }
  [[nodiscard]] double operator[](std::int64_t i) const {
    const std::byte* data = storage_.data() + kGuard;
    if (dtype_ == DType::bf16) {
      Bf16 value;
      std::memcpy(&value, data + i * 2, sizeof value);
      return to_float(value);
    }
    float value = 0;
    std::memcpy(&value, data + i * 4, sizeof value);
    return value;
  }
  // Rounds to the type.
  void set(std::int64_t i, double value) {
    std::byte* data = storage_.data() + kGuard;
    if (dtype_ == DType::bf16) {
      const Bf16 narrow = to_bf16(static_cast<float>(value));
      std::memcpy(data + i * 2, &narrow, sizeof narrow);
    } else {
      const auto wide = static_cast<float>(value);
      std::memcpy(data + i * 4, &wide, sizeof wide);
    }
  }
  [[nodiscard]] std::vector<double> doubles() const {
    std::vector<double> values;
    for (std::int64_t i = 0; i < size(); ++i) values.push_back((*this)[i]);
    return values;
  }
  [[nodiscard]] DType dtype() const { return dtype_; }

  friend bool operator==(const Values& a, const Values& b) { return a.storage_ == b.storage_; }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr unsigned char kPattern = 0xa5;
  DType dtype_;
  Dims dims_;
  std::vector<std::byte> storage_;
};

// Normally distributed, times `spread`; the same for one seed.
inline Values random_values(DType dtype, Dims dims, unsigned seed, double spread = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Values values(dtype, dims);
  for (std::int64_t i = 0; i < values.size(); ++i) values.set(i, spread * normal(generator));
  return values;
}

class Integers {
 public:
  explicit Integers(std::vector<std::int32_t> values) : values_(std::move(values)) {}
  [[nodiscard]] Tensor tensor() {
    return {reinterpret_cast<std::byte*>(values_.data()), DType::int32,
            Dims{static_cast<std::int64_t>(values_.size())}};
  }

 private:
  std::vector<std::int32_t> values_;
};

inline Tensor absent() { return {}; }

// Every element within `relative` of its size and `absolute`.
inline void expect_near(const Values& found, const std::vector<double>& expected, double relative,
                        double absolute) {
  ASSERT_EQ(found.size(), static_cast<std::int64_t>(expected.size()));
  for (std::int64_t i = 0; i < found.size(); ++i) {
    const double want = expected[static_cast<std::size_t>(i)];
    const double tolerance = relative * std::abs(want) + absolute;
    if (!(std::abs(found[i] - want) <= tolerance)) {
      FAIL() << "element " << i << ": " << found[i] << " for " << want << ", tolerance "
             << tolerance;
    }
  }
}

// d loss / d x[i] for every i, by central differences of a function of doubles.
inline std::vector<double> central_differences(
    std::vector<double> x, const std::function<double(const std::vector<double>&)>& loss,
    double step = 1e-5) {
  std::vector<double> gradient;
  for (double& value : x) {
    const double before = value;
    value = before + step;
    const double above = loss(x);
    value = before - step;
    const double below = loss(x);
    value = before;
    gradient.push_back((above - below) / (2 * step));
  }
  return gradient;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace fourhold::engine

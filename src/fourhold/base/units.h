// Strong number types: a byte count cannot be added to a time by mistake.
#pragma once

#include <compare>
#include <cstdint>

#include "fourhold/base/checked.h"

namespace fourhold {

// A count of bytes. Sums and products are checked; differences may be negative.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }
  [[nodiscard]] constexpr double gib() const { return static_cast<double>(count_) / (1LL << 30); }
  [[nodiscard]] constexpr double gb() const { return static_cast<double>(count_) / 1e9; }

  // clang-tidy 14 takes the 0 that a defaulted comparison compares with for a null pointer.
  constexpr auto operator<=>(const Bytes&) const = default;  // NOLINT(modernize-use-nullptr)
  Bytes& operator+=(Bytes other) {
    count_ = checked_add(count_, other.count_);
    return *this;
  }
  Bytes& operator-=(Bytes other) {
    count_ -= other.count_;
    return *this;
  }
  friend Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend Bytes operator-(Bytes a, Bytes b) { return a -= b; }
  friend Bytes operator*(Bytes a, std::int64_t n) { return Bytes(checked_multiply(a.count_, n)); }

 private:
  std::int64_t count_ = 0;
};

// A duration, and a count of floating-point operations (a multiply-add is two).
struct Seconds {
  double value = 0;
  constexpr auto operator<=>(const Seconds&) const = default;
};
struct Flops {
  double value = 0;
  constexpr auto operator<=>(const Flops&) const = default;
  friend constexpr Flops operator+(Flops a, Flops b) { return {a.value + b.value}; }
};

}  // namespace fourhold

// Numbers that any rank can make for any other, and sums of them in the stated order, made without
// the engine.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(mixed(seed)) {}
  std::int64_t below(std::int64_t limit) {
    state_ = mixed(state_);
    return static_cast<std::int64_t>(state_ % static_cast<std::uint64_t>(limit));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// Between 2^-13 and 2^13 in size, so that sums depend on their order.
inline float number(std::uint64_t seed, int rank, std::int64_t i) {
  const std::uint64_t bits =
      mixed(mixed(seed + static_cast<std::uint64_t>(rank)) + static_cast<std::uint64_t>(i));
  const auto exponent = static_cast<std::uint32_t>(127 - 13 + bits % 26);
  const auto sign_and_fraction = static_cast<std::uint32_t>(bits >> 32) & 0x807fffffU;
  return std::bit_cast<float>(sign_and_fraction | exponent << 23);
}

// The nearer of the two bf16 around a finite value; of two as near, the one whose last bit is 0.
inline Bf16 nearest_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const Bf16 toward_zero{static_cast<std::uint16_t>(bits >> 16)};
  const Bf16 away{static_cast<std::uint16_t>((bits >> 16) + 1)};
  const double below =
      std::abs(static_cast<double>(value) - static_cast<double>(to_float(toward_zero)));
  const double above = std::abs(static_cast<double>(to_float(away)) - static_cast<double>(value));
  if (below != above) return below < above ? toward_zero : away;
  return (toward_zero.bits & 1U) == 0 ? toward_zero : away;
}

// A tensor that owns its bytes.
class Held {
 public:
  Held(DType dtype, std::int64_t elements)
      : dtype_(dtype),
        elements_(elements),
        bytes_(static_cast<std::size_t>(bytes_of(elements, dtype))) {}

  [[nodiscard]] Tensor view() { return {bytes_.data(), dtype_, Dims{elements_}}; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  // As the type holds it.
  void set(std::int64_t i, float value) {
    if (dtype_ == DType::bf16) {
      put(i, nearest_bf16(value));
    } else if (dtype_ == DType::fp32) {
      put(i, value);
    } else if (dtype_ == DType::int64) {
      put(i, static_cast<std::int64_t>(value * 8192));
    } else {
      put(i, static_cast<std::uint8_t>(static_cast<std::int64_t>(value * 64) & 255));
    }
  }
  [[nodiscard]] float get(std::int64_t i) const {
    if (dtype_ == DType::bf16) return to_float(at<Bf16>(i));
    return at<float>(i);
  }
  void fill(std::uint64_t seed, int rank) {
    for (std::int64_t i = 0; i < elements_; ++i) set(i, number(seed, rank, i));
  }
  template <typename T>
  [[nodiscard]] T at(std::int64_t i) const {
    T value{};
    std::memcpy(&value, bytes_.data() + static_cast<std::size_t>(i) * sizeof value, sizeof value);
    return value;
  }
  template <typename T>
  void put(std::int64_t i, T value) {
    std::memcpy(bytes_.data() + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
  }

 private:
  DType dtype_;
  std::int64_t elements_;
  std::vector<std::byte> bytes_;
};

}  // namespace fourhold::engine

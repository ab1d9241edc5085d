// Sizes of a tensor's dimensions, outermost first, without meaning attached: what a ledger records.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "fourhold/base/checked.h"

namespace fourhold {

class Dims {
 public:
  static constexpr int kMaxRank = 4;
  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t size : sizes) push_back(size);
  }
  constexpr void push_back(std::int64_t size) {
    assert(rank_ < kMaxRank && "a tensor has at most four dimensions");
    sizes_[static_cast<std::size_t>(rank_++)] = size;
  }
  [[nodiscard]] constexpr int rank() const { return rank_; }
  [[nodiscard]] constexpr std::int64_t operator[](int i) const {
    return sizes_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] constexpr const std::int64_t* begin() const { return sizes_.data(); }
  [[nodiscard]] constexpr const std::int64_t* end() const { return sizes_.data() + rank_; }
  // Number of elements, 1 for a scalar. Throws Error when it leaves int64.
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t count = 1;
    for (const std::int64_t size : *this) count = checked_multiply(count, size);
    return count;
  }
  friend constexpr bool operator==(const Dims&, const Dims&) = default;

 private:
  std::array<std::int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

// "[4096, 14336]", "[]" for a scalar.
[[nodiscard]] std::string to_string(const Dims& dims);

}  // namespace fourhold

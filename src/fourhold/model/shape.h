// Shapes whose dimensions say what they count, so that a split is a rule on the dimension.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "fourhold/base/checked.h"

namespace fourhold::model {

// What one dimension of a tensor counts. Sharding maps these to mesh axes.
enum class Dim : std::uint8_t {
  tokens,  // sequences x positions of a micro-batch
  keys,    // positions attended to (a full sequence)
  routed,  // tokens x active experts, after routing: the row count depends on the data
  hidden,
  heads,
  kv_heads,
  head_dim,
  ffn,  // width of a dense feed-forward or of the shared experts
  vocab,
  experts,
  expert_ffn,
  latent,     // low-rank widths of latent attention
  positions,  // rows of a learned position table
  other,
};

struct Extent {
  Dim dim = Dim::other;
  std::int64_t size = 0;
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

// At most four dimensions, row-major, outermost first.
class Shape {
 public:
  static constexpr int kMaxRank = 4;
  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<Extent> extents) {
    for (const Extent& extent : extents) push_back(extent);
  }
  constexpr void push_back(const Extent& extent) {
    assert(rank_ < kMaxRank && "a shape has at most four dimensions");
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }
  [[nodiscard]] constexpr int rank() const { return rank_; }
  [[nodiscard]] constexpr const Extent& operator[](int i) const {
    return extents_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] constexpr Extent& operator[](int i) {
    return extents_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] constexpr const Extent* begin() const { return extents_.data(); }
  [[nodiscard]] constexpr const Extent* end() const { return extents_.data() + rank_; }
  // Number of elements; 1 for a scalar. Throws Error on overflow.
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t count = 1;
    for (const Extent& extent : *this) count = checked_multiply(count, extent.size);
    return count;
  }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<Extent, kMaxRank> extents_{};
  int rank_ = 0;
};

[[nodiscard]] std::string_view to_string(Dim dim);
// "[4096, 14336]".
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace fourhold::model

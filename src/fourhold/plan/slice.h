// Which elements of a flattened tensor somebody holds.
#pragma once

#include <cstdint>
#include <optional>

namespace fourhold::plan {

// `count` runs of `length` elements, the first at `begin`, `stride` apart; held one after the
// other. A contiguous slice is one run; the columns [a, b) of a matrix [rows, columns] are {a, b -
// a, columns, rows}.
struct Slice {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;  // not used by a single run
  std::int64_t count = 1;

  [[nodiscard]] std::int64_t elements() const { return length * count; }
  friend bool operator==(const Slice&, const Slice&) = default;
};

[[nodiscard]] constexpr Slice contiguous(std::int64_t begin, std::int64_t end) {
  return {begin, end - begin, 0, 1};
}

// Whether the slice has elements, its runs do not overlap, and all of it lies within `elements`.
[[nodiscard]] inline bool is_valid(const Slice& slice, std::int64_t elements) {
  if (slice.begin < 0 || slice.length <= 0 || slice.count <= 0) return false;
  if (slice.count > 1 && slice.stride < slice.length) return false;
  std::int64_t last = 0;
  if (__builtin_mul_overflow(slice.count - 1, slice.stride, &last) ||
      __builtin_add_overflow(last, slice.begin, &last) ||
      __builtin_add_overflow(last, slice.length, &last)) {
    return false;
  }
  return last <= elements;
}

// Where an element of the tensor stands in what is held, and how many follow it there directly.
struct HeldAt {
  std::int64_t offset = 0;
  std::int64_t run = 0;
};
[[nodiscard]] inline std::optional<HeldAt> find_element(const Slice& slice, std::int64_t element) {
  const std::int64_t distance = element - slice.begin;
  if (distance < 0) return std::nullopt;
  const std::int64_t number = slice.count == 1 ? 0 : distance / slice.stride;
  const std::int64_t within = distance - (slice.count == 1 ? 0 : number * slice.stride);
  if (number >= slice.count || within >= slice.length) return std::nullopt;
  return HeldAt{number * slice.length + within, slice.length - within};
}

}  // namespace fourhold::plan

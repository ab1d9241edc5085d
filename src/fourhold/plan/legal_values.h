// Arithmetic and wording of error hints: which values near a refused one are legal.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourhold::plan {

// All divisors of n >= 1, ascending.
[[nodiscard]] std::vector<std::int64_t> divisors(std::int64_t n);

// The multiples of `step` >= 1 next to `value` >= 0, which is none: below it, unless that is zero,
// and above it.
struct Neighbours {
  std::optional<std::int64_t> below;
  std::int64_t above = 0;
};
[[nodiscard]] Neighbours multiples_around(std::int64_t value, std::int64_t step);

// Of `values`, ascending and not empty, those next to `value`, which is none of them: "2 or 4",
// "1".
[[nodiscard]] std::string nearest_text(const std::vector<std::int64_t>& values, std::int64_t value);

// "252 or 266", "8".
[[nodiscard]] std::string to_string(const Neighbours& neighbours);

// "1, 2 or 4"; long lists are cut and say so.
[[nodiscard]] std::string list_text(const std::vector<std::int64_t>& values);
[[nodiscard]] std::string list_text(const std::vector<std::string_view>& values);

// The product of non-negative factors, or the largest int64 where it would leave the range.
[[nodiscard]] std::int64_t saturating_product(std::initializer_list<std::int64_t> factors);

}  // namespace fourhold::plan

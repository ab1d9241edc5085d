#include "fourhold/plan/legal_values.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

namespace fourhold::plan {
namespace {

constexpr std::size_t kMaxListed = 16;

template <class Value>  // numbers and names are listed alike
std::string joined(const std::vector<Value>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == kMaxListed) return text + " ...";
    if (i > 0) text += i + 1 == values.size() ? " or " : ", ";
    text += fmt::format("{}", values[i]);
  }
  return text;
}

}  // namespace

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  for (std::int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

Neighbours multiples_around(std::int64_t value, std::int64_t step) {
  const std::int64_t below = value / step * step;
  Neighbours around;
  if (below > 0) around.below = below;
  const bool room = below <= std::numeric_limits<std::int64_t>::max() - step;
  around.above = room ? below + step : below;
  return around;
}

std::string to_string(const Neighbours& neighbours) {
  if (!neighbours.below.has_value()) return fmt::format("{}", neighbours.above);
  return fmt::format("{} or {}", *neighbours.below, neighbours.above);
}

std::string nearest_text(const std::vector<std::int64_t>& values, std::int64_t value) {
  assert(!values.empty() && "some value is legal");
  const auto above = std::upper_bound(values.begin(), values.end(), value);
  if (above == values.begin()) return fmt::format("{}", *above);
  if (above == values.end()) return fmt::format("{}", values.back());
  return to_string(Neighbours{.below = *(above - 1), .above = *above});
}

std::string list_text(const std::vector<std::int64_t>& values) { return joined(values); }
std::string list_text(const std::vector<std::string_view>& values) { return joined(values); }

std::int64_t saturating_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return product;
}

}  // namespace fourhold::plan

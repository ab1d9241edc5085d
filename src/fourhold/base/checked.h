// Signed 64-bit arithmetic that refuses to wrap: sizes of models overflow long before memory does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"

namespace fourhold {

// Where the Errors below say they are: callers that know the fields at fault name them instead.
inline constexpr std::string_view kSizeFault = "size";

// a * b, or Error when the product leaves int64.
[[nodiscard]] inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw Error(std::string(kSizeFault), "a product of sizes leaves the 64-bit range",
                "use smaller dimensions");
  }
  return product;
}

// a + b, or Error when the sum leaves int64.
[[nodiscard]] inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw Error(std::string(kSizeFault), "a sum of sizes leaves the 64-bit range",
                "use smaller dimensions");
  }
  return sum;
}

// ceil(a / b) for a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace fourhold

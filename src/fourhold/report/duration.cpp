#include "fourhold/report/duration.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"

namespace fourhold::report {
namespace {

// Three significant digits, without an exponent.
std::string three_digits(double value) {
  if (value >= 1000) return format_count(std::llround(value));
  const int whole = value >= 100 ? 3 : value >= 10 ? 2 : 1;
  return fmt::format("{:.{}f}", value, 3 - whole);
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds <= 0) return "0 s";
  if (seconds >= 0.9995) return three_digits(seconds) + " s";
  if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds * 1e6) + " us";
}

std::string days_text(double days) {
  constexpr double kHours = 24;
  constexpr double kDaysPerYear = 365;
  if (days * kHours < 2) return three_digits(days * kHours * 60) + " minutes";
  if (days < 2) return three_digits(days * kHours) + " hours";
  if (days < 2 * kDaysPerYear) return three_digits(days) + " days";
  return three_digits(days / kDaysPerYear) + " years";
}

std::string percent_text(double share) { return fmt::format("{:.1f}%", share * 100); }

std::string rate_text(double per_second) { return three_digits(per_second); }

std::string dollars_text(double dollars) {
  if (dollars >= 1000) return "$" + format_count(std::llround(dollars));
  return fmt::format("${:.2f}", dollars);
}

}  // namespace fourhold::report

// Times as people say them.
#pragma once

#include <string>

namespace fourhold::report {

// "12.3 s", "231 ms", "45 us": three digits.
[[nodiscard]] std::string seconds_text(double seconds);

// "95.7 minutes" below two hours, "31.2 hours" below two days, "136 days", "2.57 years" from two
// years of 365 days on.
[[nodiscard]] std::string days_text(double days);

// "45.1%": one decimal.
[[nodiscard]] std::string percent_text(double share);

// "85,301": a rate without a fraction, from 100 on; else with three digits.
[[nodiscard]] std::string rate_text(double per_second);

// "$22.33" below 1000, "$1,234,567" from there on.
[[nodiscard]] std::string dollars_text(double dollars);

}  // namespace fourhold::report

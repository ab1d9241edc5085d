// Rows whose figures stand apart, and why: data/measured/tables/excluded.csv.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fourhold/measured/measured_row.h"

namespace fourhold::measured {

enum class Aspect : std::uint8_t { memory, step_time, fit };
inline constexpr std::array<std::string_view, 3> kAspectNames{"memory", "step_time", "fit"};

// data/measured/tables/excluded.csv; a generated source defines it.
[[nodiscard]] std::string_view excluded_text();

class Exclusions {
 public:
  // Columns: id, when, aspect, reason, source. `id` may end in '*'; `when` is empty or
  // "column=value" or "column~part" terms joined by '&'; `aspect` is one of kAspectNames or all.
  // Throws Error with file:line:column.
  Exclusions(std::string_view text, const std::string& where);

  // The reason of the first that matches, or "".
  [[nodiscard]] std::string_view reason(const MeasuredRow& row, Aspect aspect) const;

 private:
  struct Term {
    std::string column;
    char relation = '=';
    std::string value;
  };
  struct Entry {
    std::string id;
    std::vector<Term> terms;
    std::array<bool, kAspectNames.size()> aspects{};
    std::string reason;
  };
  [[nodiscard]] static bool matches(const Entry& entry, const MeasuredRow& row);

  std::vector<Entry> entries_;
};

}  // namespace fourhold::measured

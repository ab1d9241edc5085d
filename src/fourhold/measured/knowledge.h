// Which rows the constants of profiles and devices were chosen with:
// data/measured/tables/fitted.csv.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/measured/record.h"

namespace fourhold::measured {

// `fitted`: constants were chosen with the source's rows in view, so its errors are no forecast.
enum class Knowledge : std::uint8_t { fitted, never_fitted };
inline constexpr std::array<std::string_view, 2> kKnowledgeNames{"fitted", "never_fitted"};

// data/measured/tables/fitted.csv; a generated source defines it.
[[nodiscard]] std::string_view fitted_text();

struct KnowledgeLine {
  Knowledge knowledge = Knowledge::never_fitted;
  bool is_memory = false;  // else step time
  ErrorFigures figures;
};

// A source's errors where its models were left out of the fit.
struct LeftOutLine {
  std::string source;
  double median_percent = 0;
  double p90_percent = 0;
};

class FittedSources {
 public:
  // Columns: source, metric (memory or step_time), knowledge (of kKnowledgeNames), constants,
  // left_out_median_percent, left_out_p90_percent (both or none; of step times). Sources that are
  // not named are never fitted. Throws Error with file:line:column.
  FittedSources(std::string_view text, const std::string& where);

  [[nodiscard]] Knowledge of(std::string_view source, Metric metric) const;

  // Errors of all rows that count, by what the constants know of them; lines without rows are left
  // out.
  [[nodiscard]] std::vector<KnowledgeLine> lines(const Record& record) const;
  // Of the record's sources, in the order of the table.
  [[nodiscard]] std::vector<LeftOutLine> left_out(const Record& record) const;

 private:
  struct Entry {
    std::string source;
    bool is_memory = false;
    Knowledge knowledge = Knowledge::never_fitted;
    std::optional<LeftOutLine> left_out;
  };
  std::vector<Entry> entries_;
};

}  // namespace fourhold::measured

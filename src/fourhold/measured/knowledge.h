// Which rows the constants of profiles and devices were chosen with
// (data/measured/tables/fitted.csv), and how far off they are where they were not
// (data/calibration/time.json, as bench/calibrate wrote it).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/measured/record.h"

namespace fourhold::measured {

// `fitted`: constants were chosen with the source's rows in view, so its errors are no forecast.
enum class Knowledge : std::uint8_t { fitted, never_fitted };
inline constexpr std::array<std::string_view, 2> kKnowledgeNames{"fitted", "never_fitted"};

// The two files; generated sources define them.
[[nodiscard]] std::string_view fitted_text();
[[nodiscard]] std::string_view time_calibration_text();

struct KnowledgeLine {
  Knowledge knowledge = Knowledge::never_fitted;
  bool is_memory = false;  // else step time
  ErrorFigures figures;
};

// A source's errors of step time where its models were left out of the fit.
struct LeftOutLine {
  std::string source;
  double median_percent = 0;
  double p90_percent = 0;
};

// Of the sources that have rows among the record's, in the order of the file. Throws Error at
// `where` for a file without errors.
[[nodiscard]] std::vector<LeftOutLine> left_out_errors(std::string_view calibration,
                                                       const std::string& where,
                                                       const Record& record);

class FittedSources {
 public:
  // Columns: source, metric (memory or step_time), knowledge (of kKnowledgeNames), constants.
  // Sources that are not named are never fitted. Throws Error with file:line:column.
  FittedSources(std::string_view text, const std::string& where);

  [[nodiscard]] Knowledge of(std::string_view source, Metric metric) const;

  // Errors of all rows that count, by what the constants know of them; lines without rows are left
  // out.
  [[nodiscard]] std::vector<KnowledgeLine> lines(const Record& record) const;

 private:
  struct Entry {
    std::string source;
    bool is_memory = false;
    Knowledge knowledge = Knowledge::never_fitted;
  };
  std::vector<Entry> entries_;
};

}  // namespace fourhold::measured

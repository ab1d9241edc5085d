// A row's prediction beside its measurement.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/measured/catalogue.h"
#include "fourhold/measured/exclusions.h"
#include "fourhold/measured/measured_row.h"

namespace fourhold::measured {

enum class Metric : std::uint8_t { memory_allocated, memory_reserved, step_time };
inline constexpr std::array<std::string_view, 3> kMetricNames{"memory_allocated", "memory_reserved",
                                                              "step_time"};

struct Comparison {
  Metric metric = Metric::step_time;
  double predicted = 0;  // GiB or seconds
  double measured = 0;
  std::string set_apart;  // why it is not in the statistics, or ""
  [[nodiscard]] double error_percent() const { return (predicted / measured - 1) * 100; }
};

struct RowResult {
  std::string id;
  std::string source;  // the family of the id
  std::string sweep;   // model, device, count and sequence
  bool has_experts = false;
  double sequences = 0;  // per step
  std::vector<Comparison> comparisons;
  std::optional<bool> predicted_fit;
  std::optional<bool> measured_fit;
  std::string fit_set_apart;
  std::string skipped;  // why nothing is predicted, or ""
  std::vector<std::string> assumed;
};

// Never throws for what a row says.
[[nodiscard]] RowResult compare_row(const MeasuredRow& row, const Exclusions& exclusions,
                                    Catalogue& catalogue, double margin);

}  // namespace fourhold::measured

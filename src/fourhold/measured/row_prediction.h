// What is predicted of a row's run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fourhold/measured/row_setup.h"

namespace fourhold::measured {

// Memory of the stage that the source publishes; whether the run fits is the fullest stage's.
struct RowPrediction {
  double allocated_gib = 0;
  double reserved_gib = 0;
  double device_gib = 0;  // reserved, and the runtime's own
  double needed_gib = 0;  // predict::MemoryPrediction::needed_bytes, of the fullest stage
  double usable_gib = 0;
  bool fits = false;
  std::optional<double> step_seconds;
  std::string why_no_time;
};

// Whether reserved bytes are asked for: a replay of the allocator takes longer than all the rest.
enum class Reserved : std::uint8_t { replayed, as_needed };

// `margin` is the share of the device's usable memory that must stay free for a run to fit. Throws
// Error where sizes leave 64 bits.
[[nodiscard]] RowPrediction predict_row(const RowSetup& setup, double margin, Reserved reserved);

}  // namespace fourhold::measured

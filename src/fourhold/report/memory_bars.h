// The picture of a run's memory: what it holds, end to end, against the line of the device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fourhold/base/units.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/predict/memory.h"
#include "fourhold/report/screen.h"

namespace fourhold::report {

struct Bar {
  std::string label;
  Bytes bytes;
  Ink ink = Ink::plain;
};

// Bars in the order in which they are laid end to end; their sum is what the device must hold.
struct MemoryBars {
  std::vector<Bar> bars;
  std::optional<Bytes> device;  // what it has; absent: no line

  [[nodiscard]] Bytes total() const;
};

// The four things of training at the peak of the worst stage (weights, gradients, optimizer with
// the master copy, activations), and the buffers beside them where there are any: gathered blocks,
// communication, what the allocator and the runtime add. Their sum is `held` (memory.device_bytes
// where it is not given), but for buffers of less than a ten-thousandth of it, which nobody would
// see.
[[nodiscard]] MemoryBars bars_of(const predict::MemoryPrediction& memory,
                                 std::optional<Bytes> device,
                                 std::optional<Bytes> held = std::nullopt);

// One line per bar, each starting where the one above ends, and the device's line through all of
// them. Never wider than the screen.
[[nodiscard]] std::string draw(const MemoryBars& bars, const Screen& screen);

// The same picture as a file of SVG, readable on light and dark backgrounds.
[[nodiscard]] std::string draw_svg(const MemoryBars& bars, const std::string& title);

}  // namespace fourhold::report

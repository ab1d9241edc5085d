// The picture of a step's time: on what it is spent, most first.
#pragma once

#include <string>
#include <vector>

#include "fourhold/predict/part_seconds.h"
#include "fourhold/report/screen.h"

namespace fourhold::report {

struct StepPart {
  std::string name;  // "tensor parallel"
  double seconds = 0;
  double share = 0;  // of the step
};

// The parts that take time, most first.
[[nodiscard]] std::vector<StepPart> step_parts(const predict::PartSeconds& parts);

// One line per part: name, seconds, share and a bar. Never wider than the screen.
[[nodiscard]] std::string draw_step(const predict::PartSeconds& parts, const Screen& screen);

}  // namespace fourhold::report

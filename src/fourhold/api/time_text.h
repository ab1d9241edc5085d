// Sentences about time that `predict` and `plan` share. Every text ends its lines.
#pragma once

#include <string>

#include "fourhold/api/run_time.h"
#include "fourhold/plan/plan.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

// "1.23 s per step", and with tokens ", 136 days".
[[nodiscard]] std::string pace_text(const TimeAnswer& time);

// "127 days of 120": what it takes of what it may take, of a run that takes too long.
[[nodiscard]] std::string days_of_limit_text(const RunAnswer& run);

// How the answer to a run that takes too long starts: "Change first: ", or, where nobody gave a
// deadline, "For 120 days (--deadline sets another): ".
[[nodiscard]] std::string deadline_lead(const TimeAnswer& time);

// "85,301 tokens/s (10,663 per device)", "MFU 45.1%", days, cost: facts beside the answer.
[[nodiscard]] std::string speed_lines(const TimeAnswer& time, const plan::Plan& plan,
                                      const report::Screen& screen);

// The step by part, with a title; "" where the parts are not known.
[[nodiscard]] std::string parts_text(const TimeAnswer& time, const report::Screen& screen);

}  // namespace fourhold::api

// The tables below the answer of `fourhold plan`. Each has a title; "" where there is nothing to
// list.
#pragma once

#include <string>

#include "fourhold/api/plan_verb.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

// Of all devices together; the plan's step is known.
[[nodiscard]] std::string tokens_per_second(const RankedPlan& plan);

// One device and plain data parallel, and why they fail.
[[nodiscard]] std::string baselines_text(const PlanVerbResult& result,
                                         const report::Screen& screen);
// Several devices beside each other.
[[nodiscard]] std::string devices_text(const PlanVerbResult& result, const report::Screen& screen);
// The ten fastest on the first device.
[[nodiscard]] std::string plans_text(const PlanVerbResult& result, const report::Screen& screen);
// How much of the speed-up each device count keeps.
[[nodiscard]] std::string scaling_text(const PlanVerbResult& result, const report::Screen& screen);
// A reason of search::Rejection in words.
[[nodiscard]] std::string reason_text(std::string_view reason);
// Why candidates fell out, with the nearest miss of each reason.
[[nodiscard]] std::string rejected_text(const PlanVerbResult& result, const report::Screen& screen);
// Up to six points of each device count.
[[nodiscard]] std::string pareto_text(const PlanVerbResult& result, const report::Screen& screen);

}  // namespace fourhold::api

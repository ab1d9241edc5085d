// `fourhold predict`: what one explicit plan holds, by category and stage, and whether it fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run.h"
#include "fourhold/base/json.h"
#include "fourhold/predict/verdict.h"
#include "fourhold/report/memory_bars.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct PredictRequest {
  RunRequest run;
  std::string svg;
};

template <class Visitor>
void visit_options(Visitor&& visit, PredictRequest& request) {
  visit_run_options(visit, request.run);
  visit(Option{{"svg", "draw the bars into this file too"}, OptionGroup::output, ValueKind::file},
        request.svg);
}

struct PredictResult {
  std::string name;
  model::ParameterCounts counts;
  PlannedRun planned;
  std::string device;                       // "" without one
  std::optional<predict::Verdict> verdict;  // absent without a device
  std::vector<std::string> chosen;
  std::vector<std::string> notes;
};

[[nodiscard]] PredictResult predict(const PredictRequest& request);

[[nodiscard]] json::Value to_json(const PredictResult& result);
[[nodiscard]] std::string to_text(const PredictResult& result, const report::Screen& screen);
[[nodiscard]] report::MemoryBars bars_of(const PredictResult& result);

}  // namespace fourhold::api

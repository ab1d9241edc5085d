// `fourhold predict`: what one explicit plan holds, by category and stage, whether it fits, and how
// long its step takes; or what differs between two plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run.h"
#include "fourhold/api/run_time.h"
#include "fourhold/api/sureness.h"
#include "fourhold/api/time_options.h"
#include "fourhold/base/json.h"
#include "fourhold/model/trainable.h"
#include "fourhold/predict/verdict.h"
#include "fourhold/report/memory_bars.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct PredictRequest {
  RunRequest run;
  TimeRequest time;
  std::string observed;  // "memory=71.3GiB step=2.41s", or a file of measured rows
  std::string svg;
};

template <class Visitor>
void visit_options(Visitor&& visit, PredictRequest& request) {
  visit_run_options(visit, request.run);
  visit_time_options(visit, request.time);
  visit(Option{{"observed",
                "what such a run took, as \"memory=71.3GiB step=2.41s\", or a file of your runs "
                "(.csv): corrects this and later predictions of the profile and device"},
               OptionGroup::device,
               ValueKind::file},
        request.observed);
  visit(Option{{"svg", "draw the bars into this file too"}, OptionGroup::output, ValueKind::file},
        request.svg);
}

struct PredictResult {
  std::string name;
  model::ParameterCounts counts;
  PlannedRun planned;
  std::string device;                       // "" without one
  std::optional<predict::Verdict> verdict;  // absent without a device
  TimeAnswer time;
  Sureness sure;
  std::optional<model::TrainableCounts> trainable;  // absent where all weights are trained
  std::vector<std::string> chosen;
  std::vector<std::string> notes;
  std::string calibration_path;      // where own runs are kept, with what is to stand there; "":
  std::string calibration_text;      // nothing was observed
  std::vector<PredictResult> other;  // the second of two plan files, or empty
};

// Two operands that are both plan files are two plans to compare: the flags count for both.
[[nodiscard]] PredictResult predict(const PredictRequest& request);

// The prediction of a plan that is complete but for what choose_plan chooses.
[[nodiscard]] PredictResult predict_run(LoadedRun run, const TimeRequest& time);

[[nodiscard]] json::Value to_json(const PredictResult& result);
[[nodiscard]] std::string to_text(const PredictResult& result, const report::Screen& screen);
// The figure that all of the answer is about: of the verdict, or without a device all that is held.
[[nodiscard]] Bytes held_bytes(const PredictResult& result);
[[nodiscard]] report::MemoryBars bars_of(const PredictResult& result);

}  // namespace fourhold::api

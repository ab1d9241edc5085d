// `fourhold fit`: does training this model fit the device, and if not, what to change first?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/run.h"
#include "fourhold/api/sureness.h"
#include "fourhold/base/json.h"
#include "fourhold/model/trainable.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/fit.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/verdict.h"
#include "fourhold/report/memory_bars.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct FitRequest {
  RunRequest run;
  std::optional<std::int64_t> parameters;  // instead of a model: the state alone
  std::string svg;                         // where to draw the bars; "" nowhere
};

template <class Visitor>
void visit_options(Visitor&& visit, FitRequest& request) {
  visit_run_options(visit, request.run);
  visit(Option{{"parameters",
                "a parameter count such as 8.03e9 instead of MODEL: the state alone",
                {1, std::int64_t{1} << 50}},
               OptionGroup::question,
               ValueKind::number},
        request.parameters);
  visit(Option{{"svg", "draw the bars into this file too"}, OptionGroup::output, ValueKind::file},
        request.svg);
}

// Which kind of answer helps: more replicas help none of them when the state does not fit.
enum class PlanKind : std::uint8_t { one_device, data_parallel, split };

struct FitResult {
  std::string name;  // of the model, or "N parameters"
  model::ParameterCounts counts;
  std::int64_t parameters = 0;  // with those of layers of multi-token prediction
  plan::Plan plan;
  PlanKind kind = PlanKind::one_device;
  std::string device;
  predict::Capacity capacity;
  Bytes serving;                              // weights alone, as a server holds them
  predict::StateBytes state;                  // on the worst device
  std::optional<std::int64_t> zero3_devices;  // least over which ZeRO-3 makes the state alone fit;
                                              // absent where the profile has no ZeRO-3
  // Absent for a bare parameter count.
  std::optional<predict::ActivationBytes> activations;
  std::optional<predict::MemoryPrediction> memory;
  std::vector<predict::Largest> largest;
  predict::Verdict verdict;
  std::optional<Sureness> sure;                     // absent for a bare parameter count
  std::optional<model::TrainableCounts> trainable;  // absent where all weights are trained
  std::vector<std::string> chosen;
  std::vector<std::string> notes;
};

// Error for a missing device, and for whatever the model, the devices or the plan are refused for.
[[nodiscard]] FitResult fit(const FitRequest& request);

[[nodiscard]] json::Value to_json(const FitResult& result);
[[nodiscard]] std::string to_text(const FitResult& result, const report::Screen& screen);
// The four things, or the state alone.
[[nodiscard]] report::MemoryBars bars_of(const FitResult& result);

}  // namespace fourhold::api

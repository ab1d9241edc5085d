// `fourhold plan`: the fastest plans that fit, why others fell out, and how far more devices go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/alternatives.h"
#include "fourhold/api/baselines.h"
#include "fourhold/api/predict.h"
#include "fourhold/api/progress.h"
#include "fourhold/api/run.h"
#include "fourhold/api/run_time.h"
#include "fourhold/api/sureness.h"
#include "fourhold/api/time_options.h"
#include "fourhold/base/json.h"
#include "fourhold/report/screen.h"
#include "fourhold/search/pareto.h"
#include "fourhold/search/scaling_curve.h"
#include "fourhold/search/search.h"

namespace fourhold::api {

struct PlanVerbRequest {
  RunRequest run;  // several devices are alternatives, each searched on its own
  TimeRequest time;
  std::optional<bool> bounds;
  bool pareto = false;
  bool tp_across_nodes = false;
  std::string from;                  // a plan file to compare with
  std::vector<std::string> changes;  // "tp=4": to that plan, instead of a search
  std::string output;
  std::string svg;
  Progress progress;
};

template <class Visitor>
void visit_options(Visitor&& visit, PlanVerbRequest& request) {
  visit_model_option(visit, request.run);
  visit(Option{{"from", "a plan file: how it compares with the fastest plan, or with --change"},
               OptionGroup::question,
               ValueKind::file},
        request.from);
  visit(Option{{"change", "with --from: a field to change, such as tp=4; may be repeated"},
               OptionGroup::question,
               ValueKind::text},
        request.changes);
  visit(Option{{"pareto", "list the plans that no other beats in memory, time and devices at once"},
               OptionGroup::question,
               ValueKind::flag},
        request.pareto);
  visit(Option{{"tp_across_nodes", "let tensor parallelism leave the node"},
               OptionGroup::question,
               ValueKind::flag},
        request.tp_across_nodes);
  visit(Option{{"bounds", "off: score every candidate instead of excluding groups by bounds"},
               OptionGroup::question,
               ValueKind::choice},
        request.bounds);
  visit_time_options(visit, request.time);
  visit(Option{{"device",
                "device by name, alias or file; several are compared: h100-sxm-80gb,h200,mi300x"},
               OptionGroup::device,
               ValueKind::device},
        request.run.target.device);
  visit_memory_options(visit, request.run.target);
  visit_calibration_option(visit, request.run);
  visit_plan_options(visit, request.run.plan);
  visit(Option{{"output", "write the fastest plan into this file; predict and explain read it"},
               OptionGroup::output,
               ValueKind::file,
               "o"},
        request.output);
  visit(Option{{"svg", "draw the scaling curve and the step's parts into this file"},
               OptionGroup::output,
               ValueKind::file},
        request.svg);
}

struct RankedPlan {
  plan::Plan plan;
  predict::MemoryPrediction memory;
  TimeAnswer time;
  Sureness sure;
};

// One device that was searched.
struct SearchedDevice {
  LoadedRun run;
  std::string asked;  // as the user names it
  std::int64_t count = 0;
  predict::Capacity capacity;
  search::SearchResult result;
  std::vector<RankedPlan> plans;          // the ten fastest; empty: none fits
  std::vector<Alternative> alternatives;  // the same and more, without those alike
  std::optional<RankedPlan> near_miss;    // where none fits
  predict::SingleDevice single;
  predict::Verdict verdict;  // of the fastest plan, or of the nearest miss

  [[nodiscard]] const std::string& name() const { return run.target->cluster.device.name; }
  [[nodiscard]] const RankedPlan& shown() const { return plans.empty() ? *near_miss : plans[0]; }
};

// The plans of all devices in one order: sooner done first, then cheaper.
struct PlanAt {
  const SearchedDevice* device = nullptr;
  const RankedPlan* plan = nullptr;
};
[[nodiscard]] std::vector<PlanAt> plans_in_order(const std::vector<SearchedDevice>& devices);

struct PlanVerbResult {
  std::string name;
  model::ParameterCounts counts;
  std::vector<SearchedDevice> devices;  // the one that is done first, first; then the cheaper one
  // Of the first device:
  std::vector<Baseline> baselines;
  std::vector<search::ScalingPoint> scaling;  // empty where no plan fits
  std::optional<std::vector<search::ParetoPoint>> pareto;
  std::optional<PredictResult> asked;  // the plan of --from
  std::vector<std::string> chosen;
  std::string other_batch;  // why the global batch that was chosen is not the usual one; "": it is
  std::vector<std::string> notes;
  std::string output;                  // where the plan is written, "" nowhere
  TimeRequest time;                    // as asked for, with what a plan file says
  std::string model;                   // as the user names it
  std::vector<PredictResult> changed;  // --from with --change: two plans, and nothing of the above

  [[nodiscard]] const SearchedDevice& best() const { return devices.front(); }
};

// Throws Error for a missing model, device or count, for devices without rates, for changes without
// --from, and where no candidate is legal.
[[nodiscard]] PlanVerbResult find_plan(const PlanVerbRequest& request);

[[nodiscard]] json::Value to_json(const PlanVerbResult& result);
[[nodiscard]] std::string to_text(const PlanVerbResult& result, const report::Screen& screen);
// The fastest plan as a plan file; "" where none fits.
[[nodiscard]] std::string plan_file_of(const PlanVerbResult& result);
[[nodiscard]] std::string svg_of(const PlanVerbResult& result);

}  // namespace fourhold::api

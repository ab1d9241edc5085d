// A run as asked for, made ready to be predicted: model, profile, devices, and the request with
// what does not depend on memory filled in. `fit`, `predict` and `explain` share it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/api/plan_options.h"
#include "fourhold/api/run_residuals.h"
#include "fourhold/api/target.h"
#include "fourhold/api/time_options.h"
#include "fourhold/confidence/own_runs.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/parameters.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/profile.h"

namespace fourhold::api {

struct RunRequest {
  std::string model;      // a model's name or path; also a plan file that names its model
  std::string plan_file;  // a plan file, or a plan alone, for the model above
  TargetRequest target;
  plan::PlanRequest plan;  // flags: they win over what a plan file says
  // The file of the user's own runs, or "none"; "": the default one, which may be missing.
  std::string calibration{};
  std::string default_calibration{};  // no option: a command line knows where it is
  std::vector<std::string> notes{};   // on what was taken from a plan file
};

template <class Visitor>
void visit_model_option(Visitor&& visit, RunRequest& request) {
  visit(Option{{"model",
                "a built-in model, a config.json, a folder holding one, or weights beside one"},
               OptionGroup::operand,
               ValueKind::model},
        request.model);
}

template <class Visitor>
void visit_calibration_option(Visitor&& visit, RunRequest& request) {
  visit(Option{{"calibration",
                "the file of your own runs (predict --observed) that correct predictions, or none; "
                "fourhold/calibration.json in the folder of settings if not given"},
               OptionGroup::device,
               ValueKind::file},
        request.calibration);
}

template <class Visitor>
void visit_run_options(Visitor&& visit, RunRequest& request) {
  visit_model_option(visit, request);
  visit(Option{{"plan_file", "a plan file: its fields count where no flag says otherwise"},
               OptionGroup::operand,
               ValueKind::file},
        request.plan_file);
  visit_target_options(visit, request.target);
  visit_calibration_option(visit, request);
  visit_plan_options(visit, request.plan);
}

struct LoadedRun {
  model::ModelConfig model;
  model::ParameterCounts counts;
  plan::Profile profile;
  plan::PlanRequest request;
  TargetRequest target_request;
  std::optional<Target> target;
  RunResiduals residuals;           // what measured runs say of its predictions
  confidence::OwnRuns own_runs;     // the user's, where any of them corrects the profile
  std::vector<std::string> chosen;  // "seq", "precision" ...: fields nobody gave
  std::vector<std::string> notes;
};

// Reads the plan file (its tokens, price and speed are not asked for here), loads model, profile
// and devices, and fills in:
// - count from a list of several devices;
// - profile: the device's default, or standard;
// - precision: bf16; fp16 or fp32 on a device without (noted);
// - seq: the model's longest, at most 4096; a longer one than the model was made for is noted.
[[nodiscard]] LoadedRun load_run(const RunRequest& request);

// Notes where time is predicted by the rate of another type than that of the products
// (predict::rated_type), or the device has none.
void add_rate_note(const hardware::Device& device, DType compute, std::vector<std::string>& notes);

// The part of that which needs no model, for a bare count of parameters.
void fill_from_target(const std::optional<Target>& target, plan::PlanRequest& request,
                      std::vector<std::string>& notes);

// The model's name for people: a built-in name, or the file's last folder and name.
[[nodiscard]] std::string display_name(const std::string& name);

}  // namespace fourhold::api

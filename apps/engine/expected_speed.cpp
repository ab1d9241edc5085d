#include "apps/engine/expected_speed.h"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/engine/machine.h"
#include "fourhold/api/run.h"
#include "fourhold/api/target.h"
#include "fourhold/base/error.h"
#include "fourhold/engine/kernels/isa.h"
#include "fourhold/engine/measure/machine.h"
#include "fourhold/engine/measure/rank_links.h"
#include "fourhold/engine/train/process_memory.h"
#include "fourhold/hardware/cluster.h"
#include "fourhold/plan/compute_type.h"
#include "fourhold/predict/model_flops.h"
#include "fourhold/predict/scaling.h"
#include "fourhold/predict/time.h"

namespace fourhold::engine_app {
namespace {

constexpr const char* kMeasure = "measure";

// This machine with the plan's threads and instructions. With other ranks all measure at the same
// time, as they run in a step, and then their messages; the first gets what all can count on.
hardware::Device measured_device(const plan::Plan& plan, engine::Communicator* ranks) {
  const std::array computes{plan.precision == plan::Precision::fp32 ? DType::fp32 : DType::bf16};
  const int threads = static_cast<int>(plan.threads);
  if (ranks != nullptr) engine::meet(*ranks);
  hardware::Device measured = engine::measure_machine(
      {processor_name(), engine::available_memory()}, computes,
      {.threads = threads, .isa = engine::isa_of_plan(plan.isa)}, engine::Effort::quick);
  if (ranks != nullptr) {
    measured = engine::common_device(*ranks, measured);
    const engine::RankRates rates = engine::measure_ranks(*ranks, engine::Effort::quick, threads);
    engine::set_links(measured, rates, ranks->name());
  }
  engine::forget_peak();  // the measurement's memory is not the run's
  return measured;
}

// The run has a profile of its own, but a device that names one which is not there is wrong.
void require_profile(const hardware::Device& device, const std::string& asked) {
  if (device.default_profile.empty()) return;
  try {
    static_cast<void>(plan::load_profile(device.default_profile));
  } catch (const Error& fault) {
    throw fault.inside("--device " + asked + ": default_profile");
  }
}

hardware::Device named_device(const std::string& device, const engine::TrainSetup& setup,
                              const Note& note) {
  const api::Target target = *api::load_target({.device = device});
  if (target.listed > 1) {
    throw Error("--device",
                fmt::format("lists {} devices; a run is set against one", target.listed),
                "name one device, or a file of `fourhold measure`");
  }
  const hardware::Device& named = target.cluster.device;
  require_profile(named, device);
  std::vector<std::string> notes = target.notes;
  api::add_rate_note(named, plan::compute_type(setup.plan.precision), notes);
  for (const std::string& text : notes) note(text);
  note("time and MFU are set against " + named.name + ", not against this machine");
  return named;
}

hardware::Device device_of(const std::string& device, const engine::TrainSetup& setup,
                           const Note& note) {
  if (device == kMeasure) return measured_device(setup.plan, setup.place.communicator);
  return named_device(device, setup, note);
}

predict::TimePrediction time_on(const hardware::Cluster& cluster, const std::string& device,
                                const engine::TrainSetup& setup) {
  try {
    return predict::predict_time(setup.model, setup.plan, setup.profile, cluster);
  } catch (const Error& fault) {
    throw fault.inside("--device " + device);
  }
}

// Against one rank at its best micro-batch without recomputation (predict/scaling.h).
std::optional<predict::Speedup> speedup_of(const engine::TrainSetup& setup,
                                           const hardware::Cluster& cluster, double step_seconds) {
  if (setup.plan.devices() == 1) return std::nullopt;
  const double alone =
      predict::single_device(setup.model, setup.plan, setup.profile, cluster).step_seconds;
  return predict::speedup_of(alone, step_seconds, setup.plan.devices());
}

}  // namespace

void require_speed_device(const std::string& device, const engine::TrainSetup& setup) {
  if (device == "none" || device == kMeasure) return;
  const hardware::Cluster cluster = hardware::uniform_cluster(
      named_device(device, setup, [](const std::string& /*text*/) {}), setup.plan.devices());
  static_cast<void>(time_on(cluster, device, setup));
}

std::optional<ExpectedSpeed> expected_speed(const std::string& device,
                                            const engine::TrainSetup& setup, const Note& note) {
  if (device == "none") return std::nullopt;
  const plan::Plan& plan = setup.plan;
  const hardware::Cluster cluster =
      hardware::uniform_cluster(device_of(device, setup, note), plan.devices());
  if (setup.place.rank != 0) return std::nullopt;
  const predict::TimePrediction time = time_on(cluster, device, setup);
  const double flops = static_cast<double>(plan.global_batch) *
                       predict::model_flops_per_sequence(setup.model, plan.seq);
  return ExpectedSpeed{.device = device == kMeasure ? "" : device,
                       .step_seconds = time.step_seconds,
                       .model_flops = flops,
                       .peak_flops_per_second = flops / time.step_seconds / time.mfu,
                       .speedup = speedup_of(setup, cluster, time.step_seconds)};
}

}  // namespace fourhold::engine_app

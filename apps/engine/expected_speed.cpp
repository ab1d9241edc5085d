#include "apps/engine/expected_speed.h"

#include <array>
#include <utility>

#include "apps/engine/machine.h"
#include "fourhold/base/error.h"
#include "fourhold/engine/kernels/isa.h"
#include "fourhold/engine/measure/machine.h"
#include "fourhold/engine/train/process_memory.h"
#include "fourhold/hardware/catalogue.h"
#include "fourhold/hardware/cluster.h"
#include "fourhold/predict/model_flops.h"
#include "fourhold/predict/time.h"

namespace fourhold::engine_app {
namespace {

constexpr const char* kMeasure = "measure";

hardware::Device device_of(const std::string& device, const plan::Plan& plan, const Note& note) {
  if (device != kMeasure) {
    hardware::LoadedDevice loaded = hardware::load_device(device);
    for (const std::string& text : loaded.notes) note(text);
    note("time and MFU are set against " + loaded.device.name + ", not against this machine");
    return std::move(loaded.device);
  }
  const std::array computes{plan.precision == plan::Precision::fp32 ? DType::fp32 : DType::bf16};
  hardware::Device measured = engine::measure_machine(
      {processor_name(), engine::available_memory()}, computes,
      {.threads = static_cast<int>(plan.threads), .isa = engine::isa_of_plan(plan.isa)},
      engine::Effort::quick);
  engine::forget_peak();  // the measurement's memory is not the run's
  return measured;
}

}  // namespace

std::optional<ExpectedSpeed> expected_speed(const std::string& device,
                                            const engine::TrainSetup& setup, const Note& note) {
  if (device == "none") return std::nullopt;
  const plan::Plan& plan = setup.plan;
  const predict::TimePrediction time = [&] {
    const hardware::Cluster cluster = hardware::uniform_cluster(device_of(device, plan, note), 1);
    try {
      return predict::predict_time(setup.model, plan, setup.profile, cluster);
    } catch (const Error& fault) {
      throw fault.inside("--device " + device);
    }
  }();
  const double flops = static_cast<double>(plan.global_batch) *
                       predict::model_flops_per_sequence(setup.model, plan.seq);
  return ExpectedSpeed{.device = device == kMeasure ? "" : device,
                       .step_seconds = time.step_seconds,
                       .model_flops = flops,
                       .peak_flops_per_second = flops / time.step_seconds / time.mfu};
}

}  // namespace fourhold::engine_app

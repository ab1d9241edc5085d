#include "apps/engine/expected_speed.h"

#include <array>

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

hardware::Device device_of(const std::string& device, const plan::Plan& plan) {
  if (device != "measure") return hardware::load_device(device).device;
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
                                            const engine::TrainSetup& setup) {
  if (device == "none") return std::nullopt;
  const plan::Plan& plan = setup.plan;
  const predict::TimePrediction time = [&] {
    const hardware::Cluster cluster = hardware::uniform_cluster(device_of(device, plan), 1);
    try {
      return predict::predict_time(setup.model, plan, setup.profile, cluster);
    } catch (const Error& fault) {
      throw fault.inside("--device " + device);
    }
  }();
  const double flops = static_cast<double>(plan.global_batch) *
                       predict::model_flops_per_sequence(setup.model, plan.seq);
  return ExpectedSpeed{.step_seconds = time.step_seconds,
                       .model_flops = flops,
                       .peak_flops_per_second = flops / time.step_seconds / time.mfu};
}

}  // namespace fourhold::engine_app

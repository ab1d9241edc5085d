#include "fourhold/predict/scaling.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::predict {
namespace {

constexpr double kSecondsPerHour = 3600;

plan::Plan alone(const plan::Plan& plan, const model::ModelConfig& config,
                 std::int64_t micro_batch) {
  plan::Plan one;
  one.micro_batch = micro_batch;
  one.global_batch = plan.global_batch;
  one.grad_accum = plan.global_batch / micro_batch;
  one.seq = plan.seq;
  one.layers_per_stage = {config.layer_count()};
  one.precision = plan.precision;
  one.optimizer = plan.optimizer;
  one.first_moment = plan.first_moment;
  one.second_moment = plan.second_moment;
  one.gradient_accumulation = plan.gradient_accumulation;
  one.loss_chunk = plan.loss_chunk;
  one.prediction_layers = plan.prediction_layers;
  one.tuning = plan.tuning;
  one.lora_rank = plan.lora_rank;
  one.lora_targets = plan.lora_targets;
  one.lora_dropout = plan.lora_dropout;
  one.base_precision = plan.base_precision;
  one.modules_to_save = plan.modules_to_save;
  one.profile = plan.profile;
  return one;
}

}  // namespace

SingleDevice single_device(const model::ModelConfig& config, const plan::Plan& plan,
                           const plan::Profile& profile, const hardware::Cluster& cluster) {
  SingleDevice best{.step_seconds = std::numeric_limits<double>::infinity()};
  const std::int64_t batch = plan.global_batch;
  const auto consider = [&](std::int64_t micro_batch) {
    const plan::Plan one = alone(plan, config, micro_batch);
    const plan::ProgramBlocks blocks = plan::lower_blocks(config, one, profile);
    const std::vector<BlockTime> times = block_times(blocks, config, one, profile, cluster);
    const double seconds = step_time(step_time_input(blocks, times, config, one, profile, cluster),
                                     PipelineMethod::scored)
                               .seconds;
    if (seconds < best.step_seconds) best = {micro_batch, seconds};
  };
  for (std::int64_t divisor = 1; divisor * divisor <= batch; ++divisor) {
    if (batch % divisor != 0) continue;
    consider(divisor);
    if (divisor != batch / divisor) consider(batch / divisor);
  }
  return best;
}

Speedup speedup_of(double single_device_seconds, double step_seconds, std::int64_t devices) {
  const auto n = static_cast<double>(devices);
  const double alone_seconds = std::min(single_device_seconds, n * step_seconds);
  return {alone_seconds / step_seconds, alone_seconds / (n * step_seconds)};
}

RunPrediction predict_run(const RunRequest& request, const plan::Plan& plan, double step_seconds,
                          const SingleDevice& single) {
  if (request.tokens <= 0) {
    throw Error("tokens", fmt::format("is {:g}, but a run has tokens", request.tokens),
                "give the tokens of the whole run, for example 2e12");
  }
  const auto devices = static_cast<double>(plan.devices());
  RunPrediction run;
  run.tokens = request.tokens;
  run.steps =
      request.tokens / (static_cast<double>(plan.global_batch) * static_cast<double>(plan.seq));
  const double seconds = run.steps * step_seconds;
  run.days = seconds / kSecondsPerDay;
  const Speedup speedup = speedup_of(single.step_seconds, step_seconds, plan.devices());
  run.speedup = speedup.speedup;
  run.speedup_kept = speedup.speedup_kept;
  run.single_device_days = run.days * run.speedup;
  if (request.price_usd_per_device_hour.has_value()) {
    run.cost_usd = *request.price_usd_per_device_hour * devices * seconds / kSecondsPerHour;
  }
  return run;
}

}  // namespace fourhold::predict

#include "fourhold/measured/step_seconds.h"

#include <string>

#include "fourhold/measured/row_words.h"
#include "fourhold/model/parameters.h"

namespace fourhold::measured {
namespace {

// What sources count as the work of one token, forward and backward.
struct FlopConvention {
  double per_parameter = 6;
  double attention = 12;       // x layers x hidden x sequence; 6 where the causal half is counted
  bool with_embedding = true;  // among the parameters
};

FlopConvention convention_of(const MeasuredRow& row) {
  const std::string framework = lowered(row.framework);
  if (row.says("8*N")) return {.per_parameter = 8, .attention = 0};
  // Hardware FLOPs: the forward that recomputation does again counts (Narayanan 2021, eq. 3).
  const bool hardware = starts_with(framework, "megatron-deepspeed") ||
                        starts_with(framework, "megatron-lm") ||
                        starts_with(framework, "internevo");
  if (hardware && starts_with(row.recompute, "full")) {
    return {.per_parameter = 8, .attention = 16};
  }
  if (starts_with(framework, "aleph")) return {.attention = 6};
  if (starts_with(framework, "megatron-bridge")) return {.attention = 6, .with_embedding = false};
  if (starts_with(framework, "torchtitan")) return {.with_embedding = false};
  return {};
}

double step_tokens(const plan::Plan& plan) {
  return static_cast<double>(plan.global_batch) * static_cast<double>(plan.seq);
}

double flops_per_token(const MeasuredRow& row, const RowSetup& setup) {
  const FlopConvention convention = convention_of(row);
  const model::ParameterCounts counts = model::count_parameters(setup.config);
  const std::int64_t parameters = convention.with_embedding || setup.config.tied
                                      ? counts.active
                                      : counts.active_without_embedding();
  return convention.per_parameter * static_cast<double>(parameters) +
         convention.attention * static_cast<double>(setup.config.layer_count()) *
             static_cast<double>(setup.config.hidden) * static_cast<double>(setup.plan.seq);
}

// Of the device as its source counts shares: 16-bit, dense.
std::optional<double> flops_per_second(const MeasuredRow& row, const RowSetup& setup) {
  if (row.tflops_per_gpu) return *row.tflops_per_gpu * 1e12;
  const std::optional<double> percent = row.mfu_pct ? row.mfu_pct : row.hfu_pct;
  if (!percent) return std::nullopt;
  return *percent / 100 * setup.cluster.device.peak_flops.bf16;
}

std::optional<double> above_zero(std::optional<double> value) {
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace

std::optional<double> measured_step_seconds(const MeasuredRow& row, const RowSetup& setup) {
  if (above_zero(row.step_time_s)) {
    // Some sources time micro-batches.
    const bool per_micro_batch = row.says("per micro-iteration");
    return *row.step_time_s * (per_micro_batch ? static_cast<double>(setup.plan.grad_accum) : 1);
  }
  const double devices = static_cast<double>(setup.plan.devices());
  if (above_zero(row.tokens_per_s_per_gpu)) {
    return step_tokens(setup.plan) / devices / *row.tokens_per_s_per_gpu;
  }
  const std::optional<double> rate = above_zero(flops_per_second(row, setup));
  if (!rate) return std::nullopt;
  return step_tokens(setup.plan) / devices * flops_per_token(row, setup) / *rate;
}

}  // namespace fourhold::measured

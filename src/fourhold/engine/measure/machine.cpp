#include "fourhold/engine/measure/machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/ascii.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/measure/kernel_rates.h"

namespace fourhold::engine {
namespace {

struct Measured {
  double peak_flops_per_second = 0;
  hardware::SustainedShares shares;
};

// `memory` in bytes per second.
Measured measure_type(const Trial& trial, double memory) {
  const ProductRates products = product_rates(trial);
  const AttentionRates attention = attention_rates(trial);
  Measured measured;
  measured.peak_flops_per_second =
      std::max(products.best_flops_per_second, attention.forward_flops_per_second);
  hardware::SustainedShares& shares = measured.shares;
  shares.matmul = products.flops_per_second / measured.peak_flops_per_second;
  shares.memory = 1;
  shares.narrow_matmul = products.narrow_flops_per_second / measured.peak_flops_per_second;
  shares.matmul_bytes_per_flop = products.bytes_per_flop;
  shares.narrow_bytes_per_flop = products.narrow_bytes_per_flop;
  shares.elementwise = elementwise_bytes_per_second(trial) / memory;
  shares.update = update_bytes_per_second(trial) / memory;
  const double fused = attention.forward_flops_per_second / measured.peak_flops_per_second;
  shares.attention = {.unfused = fused, .flash_2 = fused};
  shares.attention.backward =
      attention.backward_flops_per_second / attention.forward_flops_per_second;
  shares.kernel_start_seconds = kernel_start_seconds(trial.execution, trial.effort);
  return measured;
}

std::string device_name(const std::string& processor, int threads) {
  std::string name;
  for (const char letter : processor) {
    if (is_letter(letter) || is_digit(letter)) {
      name += lowered(letter);
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return fmt::format("{}{}{}-threads", name, name.empty() || name.back() == '-' ? "" : "-",
                     threads);
}

}  // namespace

hardware::Device measure_machine(const MachineFacts& facts, std::span<const DType> computes,
                                 const Execution& execution, Effort effort) {
  Workspace workspace(kWorkspaceBytes, execution.threads);
  hardware::Device device;
  device.name = device_name(facts.processor, execution.threads);
  device.form = "processor";
  device.default_profile = "fourhold";
  const std::string with = fmt::format("{}, {} instructions", counted(execution.threads, "thread"),
                                       plan::to_string(execution.isa));
  device.note = "measured with " + with;
  device.usable = facts.usable;
  device.nominal_gb = static_cast<std::int64_t>(facts.usable.gb());
  const double memory = memory_bytes_per_second(execution, effort, workspace);
  device.memory_bandwidth_bytes_per_second = memory;
  bool narrow = false;
  for (const DType compute : computes) {
    const Measured measured = measure_type(trial_of(compute, execution, effort, workspace), memory);
    if (compute == DType::fp32) {
      device.peak_flops.fp32 = measured.peak_flops_per_second;
      device.sustained_fp32 = measured.shares;
    } else {
      narrow = true;
      device.peak_flops.bf16 = measured.peak_flops_per_second;
      device.sustained = measured.shares;
    }
  }
  if (!narrow && device.sustained_fp32) device.sustained = *device.sustained_fp32;
  const std::string how = fmt::format("measured by fourhold with {} on {}", with, facts.processor);
  device.sources = {{"usable_bytes", "memory the system could give when this was measured"},
                    {"peak_flops", how + ": the fastest matrix product"},
                    {"memory_bandwidth_bytes_per_second", how + ": a stream beyond the caches"},
                    {"sustained", how + ": one layer's kernels, forward and backward"}};
  return device;
}

}  // namespace fourhold::engine

#include "fourhold/measured/row_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
// Sources print GB for GiB and the other way round, as they do in the name of the device: a figure
// is too large only where it is in GB of 10^9 too.
constexpr double kGbPerGib = 1.073741824;

void check_memory(const MeasuredRow& row, RowDraft& draft) {
  const hardware::Device& device = draft.cluster.device;
  if (device.name.empty()) return;
  const double gib = std::max({row.gpu_mem_gib.value_or(0), static_cast<double>(device.nominal_gb),
                               static_cast<double>(device.usable.count()) / kGib});
  const auto check = [&](std::string_view column, std::optional<double> measured) {
    if (!measured || *measured <= gib * kGbPerGib) return;
    draft.findings.contradicts(
        fmt::format("{} is {:g}, and {} has {:g} GiB", column, *measured, device.name, gib));
  };
  check("peak_mem_gib_allocated", row.peak_mem_gib_allocated);
  check("peak_mem_gib_reserved", row.peak_mem_gib_reserved);
}

void check_degrees(const MeasuredRow& row, Findings& findings) {
  // Where a model's layers lie one after the other on the devices of a run without a pipeline, dp
  // does not count these.
  if (!row.num_gpus || !row.dp || starts_with(lowered(row.sharding), "layer split")) return;
  const std::array degrees{row.tp.value_or(1), row.pp.value_or(1), row.cp.value_or(1), *row.dp};
  double devices = 1;  // of columns that may hold anything
  for (const std::int64_t degree : degrees) devices *= static_cast<double>(degree);
  if (devices == static_cast<double>(*row.num_gpus)) return;
  findings.contradicts(fmt::format("tp x pp x cp x dp is {} x {} x {} x {}, and num_gpus is {}",
                                   degrees[0], degrees[1], degrees[2], degrees[3], *row.num_gpus));
}

// Half a unit in the last place of the shortest decimal that is this number, as its share.
double rounding_of(double value) {
  constexpr int kMostDecimals = 9;
  double unit = 1;
  for (int decimals = 0; decimals < kMostDecimals; ++decimals, unit /= 10) {
    const double rounded = std::round(value / unit) * unit;
    if (std::abs(rounded - value) <= 1e-12 * value) break;
  }
  return unit / 2 / value;
}

// For a draft whose batch and sequence are known.
void check_speed(const MeasuredRow& row, RowDraft& draft) {
  const plan::PlanRequest& request = draft.request;
  const double seconds = row.step_time_s.value_or(0);
  const double rate = row.tokens_per_s_per_gpu.value_or(0);
  if (!(seconds > 0) || !(rate > 0) || !row.num_gpus || !request.seq || !request.global_batch) {
    return;
  }
  // Some sources time micro-batches.
  const std::int64_t times = row.says("per micro-iteration") ? *request.grad_accum : 1;
  const double tokens =
      static_cast<double>(*request.global_batch) * static_cast<double>(*request.seq);
  const double expected =
      tokens / static_cast<double>(*row.num_gpus) / rate / static_cast<double>(times);
  // Beside what is printed, a source may have rounded what it made one figure of the other with.
  constexpr double kBetween = 0.01;
  const double rounding = kBetween + rounding_of(seconds) + rounding_of(rate);
  if (std::abs(expected / seconds - 1) <= rounding) return;
  draft.findings.contradicts(fmt::format(
      "step_time_s is {:g}, but a step's tokens at tokens_per_s_per_gpu {:g} take {:.4g} s",
      seconds, rate, expected));
}

void check_ran_out(const MeasuredRow& row, Findings& findings) {
  if (!row.oom.value_or(false)) return;
  for (const auto& [column, value] :
       {std::pair{"step_time_s", row.step_time_s},
        std::pair{"tokens_per_s_per_gpu", row.tokens_per_s_per_gpu},
        std::pair{"tflops_per_gpu", row.tflops_per_gpu}, std::pair{"mfu_pct", row.mfu_pct},
        std::pair{"hfu_pct", row.hfu_pct}}) {
    if (value.value_or(0) > 0) {
      findings.contradicts(fmt::format("{} is {:g}, but oom is yes", column, *value));
      return;
    }
  }
}

}  // namespace

void check_figures(const MeasuredRow& row, RowDraft& draft) {
  check_memory(row, draft);
  check_degrees(row, draft.findings);
  check_speed(row, draft);
  check_ran_out(row, draft.findings);
}

}  // namespace fourhold::measured

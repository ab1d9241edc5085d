#include "fourhold/search/scaling_curve.h"

#include <cmath>
#include <utility>

#include "fourhold/plan/legal_values.h"
#include "fourhold/predict/scaling.h"

namespace fourhold::search {
namespace {

// The search at `devices` with the splits of `split`.
SearchRequest narrowed(const SearchRequest& request, const plan::Plan& split,
                       std::int64_t devices) {
  SearchRequest narrow = with_devices(request, devices);
  plan::PlanRequest& given = narrow.space.plan;
  given.tp = split.tp;
  given.pp = split.pp;
  given.vpp = split.vpp;
  given.cp = split.cp;
  given.ep = split.ep;
  narrow.best = 1;
  return narrow;
}

ScalingPoint point_at(const SearchRequest& request, const plan::Plan& split,
                      double single_device_seconds, std::int64_t devices) {
  ScalingPoint point;
  point.devices = devices;
  if (devices % (split.tp * split.pp * split.cp) != 0) return point;
  SearchResult result = find_plans(narrowed(request, split, devices));
  if (result.plans.empty()) return point;
  return scaling_point(request, std::move(result.plans.front()), single_device_seconds, devices);
}

}  // namespace

ScalingPoint scaling_point(const SearchRequest& request, FoundPlan plan,
                           double single_device_seconds, std::int64_t devices) {
  const auto tokens = static_cast<double>(*request.space.plan.global_batch) *
                      static_cast<double>(*request.space.plan.seq);
  const predict::Speedup speedup =
      predict::speedup_of(single_device_seconds, plan.step_seconds, devices);
  ScalingPoint point;
  point.devices = devices;
  point.tokens_per_second = tokens / plan.step_seconds;
  point.speedup = speedup.speedup;
  point.speedup_kept = speedup.speedup_kept;
  point.plan = std::move(plan);
  return point;
}

std::vector<std::int64_t> doubling_counts(std::int64_t most) {
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

std::vector<ScalingPoint> scaling_curve(const SearchRequest& request, const plan::Plan& split,
                                        double single_device_seconds,
                                        const std::vector<std::int64_t>& counts) {
  std::vector<ScalingPoint> points;
  points.reserve(counts.size());
  for (const std::int64_t count : counts) {
    points.push_back(point_at(request, split, single_device_seconds, count));
  }
  return points;
}

std::optional<ScalingPoint> devices_for_deadline(const SearchRequest& request,
                                                 const plan::Plan& split,
                                                 double single_device_seconds, double tokens,
                                                 double days) {
  const std::int64_t batch = *request.space.plan.global_batch;
  const double step_tokens =
      static_cast<double>(batch) * static_cast<double>(*request.space.plan.seq);
  // A step may take this long; no device count makes more than its own multiple of one device.
  const double step_seconds = days * predict::kSecondsPerDay * step_tokens / tokens;
  const double fewest = single_device_seconds / step_seconds;
  const std::int64_t ranks = split.tp * split.pp * split.cp;
  for (const std::int64_t dp : plan::divisors(batch)) {
    const std::int64_t devices = dp * ranks;
    if (static_cast<double>(devices) < fewest) continue;
    ScalingPoint point = point_at(request, split, single_device_seconds, devices);
    if (point.plan && point.plan->step_seconds <= step_seconds) return point;
  }
  return std::nullopt;
}

}  // namespace fourhold::search

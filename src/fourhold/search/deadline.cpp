#include "fourhold/search/deadline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fourhold/plan/plan_request.h"

namespace fourhold::search {
namespace {

// A step below this share of perfect scaling is no answer anybody would pay for.
constexpr double kLeastSpeedKept = 1.0 / 64;

std::int64_t legal_candidates(const SearchRequest& request) {
  const Space space(request.space);
  std::int64_t candidates = 0;
  for (const OuterTuple& outer : space.outer_tuples()) {
    if (!space.illegal(outer)) candidates += space.candidates(outer);
  }
  return candidates;
}

}  // namespace

std::int64_t next_device_count(std::int64_t count, std::int64_t devices_per_node) {
  return count < devices_per_node ? count + 1 : (count / devices_per_node + 1) * devices_per_node;
}

DeadlineAnswer fewest_devices(const SearchRequest& request, double single_device_seconds,
                              double step_seconds) {
  constexpr auto kMost = plan::kCountField.range.most;
  constexpr double kRounding = 1e-9;
  const double fewest = std::ceil(single_device_seconds / step_seconds * (1 - kRounding));
  DeadlineAnswer answer;
  if (fewest > static_cast<double>(kMost)) return answer;
  const std::int64_t node = request.space.devices_per_node;
  std::int64_t devices = std::max<std::int64_t>(1, static_cast<std::int64_t>(fewest));
  if (devices > node) devices = next_device_count(devices - 1, node);
  const double most =
      std::min(static_cast<double>(kMost), static_cast<double>(devices) / kLeastSpeedKept);
  answer.searched_from = devices;
  std::int64_t weighed = 0;
  for (; static_cast<double>(devices) <= most; devices = next_device_count(devices, node)) {
    SearchRequest probe = with_devices(request, devices);
    probe.best = 1;
    probe.most_seconds = step_seconds;
    const std::int64_t candidates = legal_candidates(probe);
    weighed += candidates;
    if (weighed > kMostDeadlineCandidates) break;
    answer.searched_to = devices;
    if (candidates == 0) continue;
    SearchResult result = find_plans(probe);
    if (result.plans.empty()) continue;
    answer.point =
        scaling_point(request, std::move(result.plans.front()), single_device_seconds, devices);
    return answer;
  }
  return answer;
}

}  // namespace fourhold::search

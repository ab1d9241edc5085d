#include "fourhold/search/pareto.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "fourhold/predict/time.h"

namespace fourhold::search {
namespace {

SearchRequest at_count(const SearchRequest& request, std::int64_t devices) {
  SearchRequest one = request;
  one.space.plan.count = devices;
  one.cluster.count = devices;
  one.capacity = predict::over_devices(request.capacity, devices);
  return one;
}

// The front at one device count: lightest first, each faster than all lighter ones.
std::vector<ParetoPoint> front_at(const SearchRequest& request, std::int64_t devices) {
  const SearchRequest one = at_count(request, devices);
  const Space space(one.space);
  std::vector<ScoredCandidate> all = score_all(one);
  std::sort(all.begin(), all.end(), [](const ScoredCandidate& a, const ScoredCandidate& b) {
    if (a.live_peak_bytes != b.live_peak_bytes) return a.live_peak_bytes < b.live_peak_bytes;
    if (a.least_seconds != b.least_seconds) return a.least_seconds < b.least_seconds;
    return a.candidate < b.candidate;
  });
  std::vector<ParetoPoint> front;
  double fastest = std::numeric_limits<double>::infinity();
  for (const ScoredCandidate& scored : all) {
    if (scored.least_seconds >= fastest) continue;
    plan::Plan plan = plan_of(scored.candidate, space);
    const double seconds =
        predict::predict_time(*one.space.config, plan, *one.space.profile, one.cluster)
            .step_seconds;
    if (seconds >= fastest) continue;
    fastest = seconds;
    // Of equal memory the faster one, found later, takes the place.
    if (!front.empty() && front.back().live_peak_bytes == scored.live_peak_bytes) front.pop_back();
    front.push_back(
        {devices, {scored.candidate, std::move(plan), seconds}, scored.live_peak_bytes});
  }
  return front;
}

bool beats(const ParetoPoint& a, const ParetoPoint& b) {
  return a.devices <= b.devices && a.live_peak_bytes <= b.live_peak_bytes &&
         a.plan.step_seconds <= b.plan.step_seconds;
}

}  // namespace

std::vector<ParetoPoint> pareto_front(const SearchRequest& request,
                                      const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> ascending = counts;
  std::sort(ascending.begin(), ascending.end());
  std::vector<ParetoPoint> front;
  for (const std::int64_t devices : ascending) {
    const std::size_t fewer = front.size();
    for (ParetoPoint& point : front_at(request, devices)) {
      const auto fewer_end = front.begin() + static_cast<std::ptrdiff_t>(fewer);
      const bool beaten = std::any_of(
          front.begin(), fewer_end, [&](const ParetoPoint& other) { return beats(other, point); });
      if (!beaten) front.push_back(std::move(point));
    }
  }
  return front;
}

}  // namespace fourhold::search

// The fastest plans that fit, proven: every candidate's memory is exact, and its time is replayed
// unless a bound shows that it cannot be among the best.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/hardware/cluster.h"
#include "fourhold/predict/verdict.h"
#include "fourhold/search/best_plans.h"
#include "fourhold/search/space.h"

namespace fourhold::search {

// `off`: score every candidate, fitting or not, and replay all that the best replays do not
// exclude. The plans are the same; it shows that pruning loses none.
enum class Bounds : std::uint8_t { on, off };

struct SearchRequest {
  SpaceRequest space;
  hardware::Cluster cluster;
  predict::Capacity capacity;  // of the asked count; predict::over_devices gives another's
  Bounds bounds = Bounds::on;
  std::size_t best = 10;  // plans asked for
  // Only plans of at most this step are asked for: groups that a bound excludes are not weighed, so
  // that `rejected` and the counts leave them out.
  double most_seconds = std::numeric_limits<double>::infinity();
  // Called before each split is scored, then before each group that is replayed: how many are done,
  // of how many.
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};
};

// The same request over another number of devices, which dp then follows.
[[nodiscard]] SearchRequest with_devices(const SearchRequest& request, std::int64_t devices);

struct NearestMiss {
  plan::Plan plan;
  std::int64_t missing_bytes = 0;
};

// Candidates that fell out for one reason.
struct Rejection {
  std::string reason;  // of kIllegalNames, "device_memory", "host_memory", "fragmentation"
  std::int64_t count = 0;
  std::optional<NearestMiss> nearest;  // of those that do not fit
};

// candidates = illegal + does_not_fit + pruned + evaluated. An illegal outer tuple counts once.
struct SearchCounts {
  std::int64_t candidates = 0;
  std::int64_t illegal = 0;
  std::int64_t does_not_fit = 0;
  std::int64_t pruned = 0;
  std::int64_t evaluated = 0;
  std::int64_t replayed = 0;  // of the evaluated
  double seconds = 0;
};

struct SearchResult {
  std::vector<FoundPlan> plans;     // fastest first
  std::vector<Rejection> rejected;  // most first
  SearchCounts counts;
};

// A candidate that fits, scored: exact memory, and at most its step time.
struct ScoredCandidate {
  Candidate candidate;
  std::int64_t live_peak_bytes = 0;
  double least_seconds = 0;
};

// Throws Error for a request whose given fields no plan can have, and where the device has no rate
// or link that a plan needs.
[[nodiscard]] SearchResult find_plans(const SearchRequest& request);

// Every candidate that fits, in no particular order.
[[nodiscard]] std::vector<ScoredCandidate> score_all(const SearchRequest& request);

}  // namespace fourhold::search

// How many devices a deadline needs, whatever the split.
#pragma once

#include <cstdint>
#include <optional>

#include "fourhold/search/scaling_curve.h"
#include "fourhold/search/search.h"

namespace fourhold::search {

// Candidates that are weighed for one deadline, over all device counts: about ten seconds' work.
inline constexpr std::int64_t kMostDeadlineCandidates = 10'000'000;

struct DeadlineAnswer {
  std::optional<ScalingPoint> point;  // absent: none of the counts up to `searched_to` is enough
  std::int64_t searched_from = 0;
  std::int64_t searched_to = 0;
};

// The device count after `count` that is tried: every one within a node, whole nodes beyond.
[[nodiscard]] std::int64_t next_device_count(std::int64_t count, std::int64_t devices_per_node);

// The fewest devices on which a step of the request's global batch takes at most `step_seconds`,
// with the splits, ZeRO, micro-batch, recomputation and offload that the request leaves open. Its
// count is not read. N devices are at most N times as fast as one (`single_device_seconds`:
// predict::single_device), so counts below single_device_seconds / step_seconds are not tried; the
// others are, one by one and upward, because a step's time does not fall evenly with devices. Ends
// after kMostDeadlineCandidates, at the largest count a plan may have, and where devices would keep
// less than 1/64 of their speed.
[[nodiscard]] DeadlineAnswer fewest_devices(const SearchRequest& request,
                                            double single_device_seconds, double step_seconds);

}  // namespace fourhold::search

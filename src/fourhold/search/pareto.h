// The plans no other plan beats in memory, time and number of devices at once.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/search/search.h"

namespace fourhold::search {

struct ParetoPoint {
  std::int64_t devices = 1;
  FoundPlan plan;
  std::int64_t live_peak_bytes = 0;  // of the fullest device
};

// The exact front over these device counts (each a search of its own with the request's given
// fields): plans that fit, ordered by devices, then memory. Of plans equal in all three the first
// in tuple order stands.
[[nodiscard]] std::vector<ParetoPoint> pareto_front(const SearchRequest& request,
                                                    const std::vector<std::int64_t>& counts);

}  // namespace fourhold::search

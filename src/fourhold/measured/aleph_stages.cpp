#include "fourhold/measured/aleph_stages.h"

#include <algorithm>

namespace fourhold::measured {

std::vector<std::int64_t> aleph_stages(std::int64_t layers, std::int64_t pp) {
  constexpr std::int64_t kBefore = 1;  // the embedding
  constexpr std::int64_t kBehind = 2;  // the norm and the head
  const std::int64_t modules = kBefore + layers + kBehind;
  std::vector<std::int64_t> stages;
  std::int64_t begin = 0;
  for (std::int64_t stage = 0; stage < pp; ++stage) {
    const std::int64_t end = begin + modules / pp + (stage < modules % pp ? 1 : 0);
    const std::int64_t first = std::max(begin, kBefore);
    const std::int64_t last = std::min(end, kBefore + layers);
    stages.push_back(std::max<std::int64_t>(0, last - first));
    begin = end;
  }
  return stages;
}

}  // namespace fourhold::measured

#include "tests/engine/communicator/suite_case.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace fourhold::engine {
namespace {

// Ranks as a mesh: members lie `stride` apart.
Group mesh_group(Draws& draws, int ranks, int rank) {
  std::vector<int> divisors;
  for (int n = 1; n <= ranks; ++n) {
    if (ranks % n == 0) divisors.push_back(n);
  }
  const int size =
      divisors[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(divisors.size())))];
  std::vector<int> strides;
  for (const int n : divisors) {
    if ((ranks / size) % n == 0) strides.push_back(n);
  }
  const int stride =
      strides[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(strides.size())))];
  Group group;
  group.place = rank / stride % size;
  for (int k = 0; k < size; ++k) group.ranks.push_back(rank + (k - group.place) * stride);
  return group;
}

// Any partition into up to three groups.
Group any_group(Draws& draws, int ranks, int rank) {
  std::vector<std::int64_t> color(static_cast<std::size_t>(ranks));
  for (std::int64_t& each : color) each = draws.below(3);
  Group group;
  for (int r = 0; r < ranks; ++r) {
    if (color[static_cast<std::size_t>(r)] != color[static_cast<std::size_t>(rank)]) continue;
    if (r == rank) group.place = group.size();
    group.ranks.push_back(r);
  }
  return group;
}

std::int64_t some_size(Draws& draws, int ranks, bool long_tensors) {
  switch (draws.below(6)) {
    case 0:
      return 0;
    case 1:
      return 1 + draws.below(ranks);
    case 2:
      return 1000 * ranks;
    case 3:
      return long_tensors && draws.one_in(8) ? 300'000 * std::min(ranks, 4) + draws.below(1000)
                                             : draws.below(40);
    default:
      return draws.below(5000);
  }
}

}  // namespace

Case draw_case(Draws& draws, int ranks, int rank, bool long_tensors) {
  constexpr std::array kTypes{DType::fp32, DType::bf16};
  Case each;
  each.seed = static_cast<std::uint64_t>(draws.below(1'000'000'007));
  const bool mesh = draws.one_in(2);
  each.group = mesh ? mesh_group(draws, ranks, rank) : any_group(draws, ranks, rank);
  each.elements = some_size(draws, ranks, long_tensors);
  each.type = kTypes[static_cast<std::size_t>(draws.below(2))];
  each.own_type = kTypes[static_cast<std::size_t>(draws.below(2))];
  each.sum = draws.one_in(2) ? Sum::replace : Sum::accumulate;
  each.in_place = draws.one_in(3);
  each.longer = draws.below(3);
  return each;
}

}  // namespace fourhold::engine

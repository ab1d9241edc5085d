#include "fourhold/predict/collectives.h"

#include <cassert>

namespace fourhold::predict {

using plan::Collective;

CollectiveCost collective_cost(Collective kind, double payload_bytes, std::int64_t ranks) {
  assert(ranks >= 1 && "a group has a rank");
  if (ranks == 1) return {};
  const auto n = static_cast<double>(ranks);
  const double others = (n - 1) / n;
  switch (kind) {
    case Collective::none:
    case Collective::copy:
      return {};
    case Collective::all_gather:
    case Collective::ring:
      return {ranks - 1, payload_bytes * (n - 1)};
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return {ranks - 1, payload_bytes * others};
    case Collective::all_reduce:
    case Collective::reduce_scalars:
      return {2 * (ranks - 1), 2 * payload_bytes * others};
    case Collective::send_receive:
      return {1, payload_bytes};
  }
  return {};
}

DataTraffic data_traffic(int zero, const ShardedBytes& local, std::int64_t ranks,
                         int gathers_per_micro_batch) {
  const auto n = static_cast<double>(ranks);
  const double reduce =
      collective_cost(Collective::reduce_scatter, local.gradient_bytes, ranks).wire_bytes;
  const double gather =
      collective_cost(Collective::all_gather, local.weight_bytes / n, ranks).wire_bytes;
  switch (zero) {
    case 0:
      return {.per_step_bytes = 2 * reduce};
    case 1:
      return {.per_step_bytes = reduce + gather};
    case 2:
      return {.per_micro_batch_bytes = reduce, .per_step_bytes = gather};
    default:
      return {.per_micro_batch_bytes = reduce + gathers_per_micro_batch * gather};
  }
}

}  // namespace fourhold::predict

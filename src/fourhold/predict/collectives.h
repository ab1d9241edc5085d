// What each collective costs: steps, and bytes on the wire of one rank.
//
// The rules are those of bandwidth-optimal rings and direct exchanges (Thakur, Rabenseifner and
// Gropp 2005, "Optimization of Collective Communication Operations in MPICH", sec. 4; Patarasuk and
// Yuan 2009, "Bandwidth Optimal All-reduce Algorithms", theorem 1). n = ranks of the group, S = the
// payload. Every rank sends as much as it receives; a group of one sends nothing.
//
// | collective     | payload S                  | steps     | bytes sent by one rank |
// |----------------|----------------------------|-----------|------------------------|
// | all_gather     | the rank's own piece       | n - 1     | (n - 1) S              |
// | reduce_scatter | the whole addend           | n - 1     | S (n - 1) / n          |
// | all_reduce     | the whole addend           | 2 (n - 1) | 2 S (n - 1) / n        |
// | all_to_all     | all the rank sends or keeps| n - 1     | S (n - 1) / n          |
// | ring           | k and v of the rank        | n - 1     | (n - 1) S              |
// | send_receive   | the tensor                 | 1         | S                      |
// | reduce_scalars | numbers of all tokens      | 2 (n - 1) | 2 S (n - 1) / n        |
//
// all_reduce = reduce_scatter + all_gather: what splits one of them into both costs no byte more
// (Korthikanti 2022, arXiv 2205.05198, sec. 4.2.2). Ring: context-parallel attention passes k and v
// on n - 1 times (Liu 2023, arXiv 2310.01889, sec. 3).
#pragma once

#include <cstdint>

#include "fourhold/plan/sharding.h"

namespace fourhold::predict {

struct CollectiveCost {
  std::int64_t steps = 0;
  double wire_bytes = 0;  // sent by one rank
};

// Of one collective of `payload_bytes` in a group of `ranks` >= 1. Pieces are taken as S / n: the
// padding of a last, smaller piece is not counted.
[[nodiscard]] CollectiveCost collective_cost(plan::Collective kind, double payload_bytes,
                                             std::int64_t ranks);

// Traffic of data parallelism in one optimizer step, as bytes sent by one rank: `gradient_bytes`
// are the local gradients in the type that travels, `weight_bytes` the local weights as gathered, n
// the ranks that share them, m the micro-batches (Rajbhandari 2020, arXiv 1910.02054, sec. 7).
//   ZeRO-0:  all-reduce                                   2 Psi (n - 1) / n
//   ZeRO-1:  reduce-scatter, gather of updated weights    2 Psi (n - 1) / n
//   ZeRO-2:  m reduce-scatters and that gather            (m + 1) Psi (n - 1) / n
//   ZeRO-3:  2 m gathers and m reduce-scatters            3 m Psi (n - 1) / n
// `gathers_per_micro_batch` is 2 under ZeRO-3, 1 for blocks whose forward and backward adjoin.
struct ShardedBytes {
  double gradient_bytes = 0;
  double weight_bytes = 0;
};
struct DataTraffic {
  double per_micro_batch_bytes = 0;  // m times a step
  double per_step_bytes = 0;         // once
  [[nodiscard]] double step_bytes(std::int64_t micro_batches) const {
    return per_micro_batch_bytes * static_cast<double>(micro_batches) + per_step_bytes;
  }
};
[[nodiscard]] DataTraffic data_traffic(int zero, const ShardedBytes& local, std::int64_t ranks,
                                       int gathers_per_micro_batch = 2);

}  // namespace fourhold::predict

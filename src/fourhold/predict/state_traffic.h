// What moving weights, gradients and optimizer state costs a stage, in seconds, before any overlap.
#pragma once

#include <cstdint>

#include "fourhold/hardware/cluster.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/predict/rates.h"
#include "fourhold/predict/topology.h"

namespace fourhold::predict {

// Sums over the parameters of a block or a stage that one group shares, local to one rank before
// ZeRO.
struct ParameterSums {
  double trained = 0;       // elements
  double tensors = 0;       // that hold them
  double weight_bytes = 0;  // in the form in which a weight is gathered and used
  double trained_weight_bytes = 0;
  double state_bytes = 0;  // master copy and moments
};

// A block's parameters, the same for every ZeRO stage; sums of these make a stage.
struct BlockParameters {
  ParameterSums dense;       // shared by dp x cp
  ParameterSums experts;     // shared by dp x cp / ep
  double tp_replicated = 0;  // elements whose partial gradients are summed over tp
  double kv_replicated = 0;  // and over the replicas of a kv head
  ParameterSums tied;  // an embedding used by a head: of the head's stage, unless it holds both
  double gathered_bytes = 0;  // dense weights that ZeRO-3 gathers for one micro-batch: those of a
  double expert_gathered_bytes = 0;  // layer twice, of embedding and head once
  std::int64_t blocks = 0;
};
[[nodiscard]] BlockParameters block_parameters(const plan::ProgramBlock& block,
                                               const plan::Recipe& recipe);
void add_parameters(BlockParameters& sum, const BlockParameters& other, std::int64_t times = 1);

// The groups that share parameters.
struct StateLinks {
  GroupLinks sharding, expert_sharding, tp, kv_replicas, embedding;
  GroupLinks replicas, expert_replicas;  // of shards
};
[[nodiscard]] StateLinks state_links(const hardware::Cluster& cluster, const plan::Plan& plan,
                                     std::int64_t kv_heads);

// Sustained bytes per second of the link to the host. Throws Error where the device has none.
[[nodiscard]] double host_link_rate(const hardware::Link& host_link);

// Seconds of one stage. Times of a micro-batch come m times a step.
struct StateTraffic {
  double gather_forward = 0;    // ZeRO-3, per micro-batch
  double gather_backward = 0;   // the same
  double reduce = 0;            // ZeRO-2 and 3, per micro-batch
  double per_step = 0;          // all-reduce, or reduce-scatter (ZeRO-1), and gather of new weights
  double after_backward = 0;    // the same where nothing hides it
  double accumulate = 0;        // adding a micro-batch's gradients to the others', per micro-batch
  double optimizer = 0;         // per step
  double replicas = 0;          // gradients of what tp or kv heads replicate, per step
  double tied = 0;              // of a tied embedding on the first and the last stage, per step
  double offload_forward = 0;   // weights from the host, per micro-batch
  double offload_backward = 0;  // weights from it and gradients to it, per micro-batch
  double offload_per_step = 0;  // state through the device
};

struct StateTrafficInput {
  BlockParameters parameters = {};  // of the stage
  plan::Recipe recipe;
  int zero = 0;
  plan::Offload offload = plan::Offload::none;
  std::int64_t micro_batches = 1;
  plan::ProfileTime profile;
  bool fused_accumulation = false;  // weight gradients are added inside their product
  Rates rates;
  hardware::Link host_link;
};

// Volumes: predict/collectives.h.
//   Optimizer: each owned parameter's master and moments are read and written, its gradient is read
//     for the norm and for the update, its weight is written: 30 bytes with bf16 AdamW.
//   Accumulation, where m > 1: the accumulator is read and written, and the new gradient read
//     unless their product adds it in place (6 bytes in 16 bits, 10 with fp32 gradients, 8 fused).
//   ZeRO-1 in one flat message after backward (plan::ShardedReduction): for each tensor and rank a
//     kernel that copies its piece, of gradients and of updated weights.
//   Offload: master and moments pass through the device once a step, in both directions at once;
//     offloaded gradients go to the host after each micro-batch and come back with them; under
//     `all` weights come once for forward and once for backward.
// Throws Error where the plan offloads and the device has no link to its host.
[[nodiscard]] StateTraffic state_traffic(const StateTrafficInput& input, const StateLinks& links);

}  // namespace fourhold::predict

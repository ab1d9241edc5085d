// How long one block takes for one micro-batch, and what it computes.
#pragma once

#include "fourhold/model/operations.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/predict/part_seconds.h"
#include "fourhold/predict/rates.h"
#include "fourhold/predict/topology.h"

namespace fourhold::predict {

// The groups inside a layer.
struct LayerLinks {
  GroupLinks tp, cp, ep;
};

// What decides a block's time beside the block: the same for every candidate of a search with equal
// (tp, cp, ep, micro_batch).
struct BlockTimeInput {
  Rates rates;
  LayerLinks links;
  model::BatchSizes sizes;
  double tensor_overlap = 0;                                 // of the profile
  plan::GateAndUp gate_and_up = plan::GateAndUp::one_layer;  // the same
  double layer_floor_seconds = 0;  // wait of a layer beside the host's, where it stalls
  double routing_seconds = 0;      // host time of a layer's routing, forward
};

// One block at one micro-batch. Backward holds recomputation, as a part of its own. No pipeline,
// data-parallel or optimizer time is in it: those belong to stages and steps.
struct BlockTime {
  PartSeconds forward;
  PartSeconds backward;
  double model_flops = 0;       // forward and backward, by the convention of step_work.h
  double recomputed_flops = 0;  // forward work done again, by the same convention
  [[nodiscard]] double seconds() const { return forward.total() + backward.total(); }
};

// Sums the steps' rooflines and collectives.
//   A ring exchange of context-parallel attention is hidden behind 0.8 of its attention.
//   `tensor_overlap` of the traffic over tp is hidden. Where gate and up are layers of their own,
//   the all-reduce of their input's gradient comes twice.
//   Host: device and host work side by side over a whole layer, so it costs the larger of the two,
//   (device^12 + host^12)^(1/12): measured steps are flat in the micro-batch until the device
//   becomes the slower. What the host adds is booked on each direction by its share of the host's
//   time.
//   A stalled layer lasts at least host, starts of its collectives over tp, and the stall: a wait.
[[nodiscard]] BlockTime block_time(const plan::ProgramBlock& block, const BlockTimeInput& input);

}  // namespace fourhold::predict

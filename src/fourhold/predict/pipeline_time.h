// How long a pipeline takes: its schedule replayed, and a bound that needs no replay.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/schedule.h"

namespace fourhold::predict {

// One micro-batch through one chunk of layers, with the synchronisation of its sends.
struct ChunkSeconds {
  double forward = 0;
  double backward = 0;
  [[nodiscard]] double both() const { return forward + backward; }
};

// A pipeline as numbers: `chunks` in the order of virtual stages (chunk x pp + stage), pp x vpp of
// them. `edge_seconds` passes between a chunk's end and its neighbour's start without keeping
// either stage from other work.
struct PipelineInput {
  plan::ScheduleKind schedule = plan::ScheduleKind::one_f_one_b;
  std::int64_t pp = 1;
  std::int64_t vpp = 1;
  std::int64_t micro_batches = 1;
  std::vector<ChunkSeconds> chunks = {};
  double edge_seconds = 0;
};

// Seconds until each stage has finished its last backward; the pipeline ends with the largest.
// Every slot of plan::stage_slots starts when its stage is free and its input is there: exact event
// times. O(pp vpp micro_batches), which plan::validate bounds by plan::kMostPipelineForwards; one
// stage alone is m x its work.
[[nodiscard]] std::vector<double> replay(const PipelineInput& input);

// Lower bounds of the same, in O(pp vpp): for stage s
//   the fill before it + m x its work + the waits no order of its work avoids,
// and never less than the stage after it and one more backward of its own (the drain). Fill and
// drain are the forwards and backwards of the stages before s through their first chunks (Narayanan
// 2021, arXiv 2104.04473, sec. 2.2). The waits: stage s of 1F1B runs p - s forwards before its
// first backward, which takes the stages after it their whole round; and so at the end, with p - s
// - 1 backwards. GPipe waits once for that round.
[[nodiscard]] std::vector<double> stage_end_bounds(const PipelineInput& input);
// The same into `ends`.
void stage_end_bounds(const PipelineInput& input, std::vector<double>& ends);

// The bound of the whole pipeline: most over stages of fill + m x work + waits + drain. Equal
// stages give (m + (p - 1) / v) x work, the replay exactly where there are no edges.
[[nodiscard]] double pipeline_lower_bound(const PipelineInput& input);

}  // namespace fourhold::predict

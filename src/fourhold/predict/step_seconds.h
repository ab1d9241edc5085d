// The seconds of one optimizer step from the seconds of its stages: the part of the model of time
// that a search asks for every candidate. O(stages) for the bound.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/plan.h"
#include "fourhold/predict/pipeline_time.h"
#include "fourhold/predict/state_traffic.h"

namespace fourhold::predict {

// What a step is made of but for its traffic.
struct StepFrame {
  plan::ScheduleKind schedule = plan::ScheduleKind::one_f_one_b;
  std::int64_t pp = 1;
  std::int64_t vpp = 1;
  std::int64_t micro_batches = 1;
  std::vector<ChunkSeconds> chunks = {};  // blocks alone, per virtual stage: chunk x pp + stage
  double send_seconds = 0;                // of one boundary, one way, with its synchronisation
  double residual_seconds = 0;            // offloaded activations of a micro-batch, one way
  double data_overlap = 1;                // share of the last backward that hides gradient traffic
  double gathered_visible = 0.53;  // ZeRO-3: visible share of the smaller of work and traffic
  double host_seconds = 0;         // per step
  double correction = 1;           // of the whole step, by the user's own runs
};

// One stage over all its chunks: what its traffic adds to the blocks' own time.
struct ShownTraffic {
  double forward_data = 0;  // per micro-batch
  double backward_data = 0;
  double forward_offload = 0;
  double backward_offload = 0;
  double step_data = 0;  // once, after the last backward
};

// `scored` takes the pipeline's lower bound, `replayed` its exact events: the first is never more.
enum class PipelineMethod : std::uint8_t { scored, replayed };

// A stage keeps busy with its blocks, one send each way per micro-batch and chunk, and what shows
// of its traffic:
//   ZeRO-3 and offload of a micro-batch: what exceeds the work, and `gathered_visible` of the
//     smaller of both (offload: nothing of it); the link to the host carries both directions at
//     once: in forward activations leave while weights come, in backward all but gradients comes;
//   ZeRO-2: each micro-batch's reduction beyond `data_overlap` of its backward;
//   once a step: the rest of data-parallel traffic beyond `data_overlap` of the last backward, then
//     what comes after it in any case and the gradients of replicas, then the optimizer and its
//     offload, which wait for all stages.
// An object keeps its buffers from call to call.
class StepClock {
 public:
  // `traffic` of each stage.
  double seconds(const StepFrame& frame, const std::vector<StateTraffic>& traffic,
                 PipelineMethod method);

  // Of the last call: per stage, and the ends that follow each other.
  [[nodiscard]] const std::vector<ShownTraffic>& shown() const { return shown_; }
  struct Ends {
    double pipeline = 0;   // the last backward of all stages
    double reduced = 0;    // and its gradients
    double tied = 0;       // seconds from there: the tied embedding's gradient,
    double optimizer = 0;  // the optimizer,
    double updated = 0;    // the optimizer and its offload
  };
  [[nodiscard]] const Ends& ends() const { return ends_; }

 private:
  std::vector<ShownTraffic> shown_;
  PipelineInput pipeline_;
  std::vector<double> stage_ends_;
  Ends ends_;
};

}  // namespace fourhold::predict

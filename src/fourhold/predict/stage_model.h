// One stage made ready to be walked: its program, what each block holds, and the stage's own
// buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/predict/stage_ledger.h"

namespace fourhold::predict {

// Sums over a stage, local to one rank.
struct StageTotals {
  std::int64_t resident_bytes = 0;  // device, without gradients
  std::int64_t gradient_bytes = 0;  // device, accumulators
  std::int64_t host_bytes = 0;
  std::int64_t parameters = 0;           // elements before ZeRO
  std::int64_t trainable = 0;            // of these, those with a gradient
  std::int64_t updated = 0;              // elements this rank's optimizer updates
  std::int64_t largest_block_bytes = 0;  // weights of its largest block, whole, as used
};

class StageModel {
 public:
  StageModel(const model::ModelConfig& config, const plan::ProgramBlocks& blocks,
             const std::vector<BlockLifetimes>& lifetimes, const plan::Plan& plan,
             const plan::Profile& profile, std::int64_t stage);
  // `input` points into this object.
  StageModel(const StageModel&) = delete;
  StageModel& operator=(const StageModel&) = delete;

  [[nodiscard]] const StageLedgerInput& input() const { return input_; }
  [[nodiscard]] const plan::Program& program() const { return program_; }
  [[nodiscard]] const StageBytes& bytes() const { return bytes_; }
  [[nodiscard]] const StageTotals& totals() const { return totals_; }
  [[nodiscard]] std::int64_t layers() const { return layers_; }
  // State and the buffers that no batch size changes: the stage's own, and where weights are
  // gathered or gradients reduced block by block, the largest block's twice and once.
  [[nodiscard]] std::int64_t fixed_bytes() const;

 private:
  void count_instances();
  void sum_totals();
  void add_buffers(const plan::Profile& profile);
  void add_offloaded_activations();
  [[nodiscard]] std::int64_t largest_gathered() const;
  void sum_static_bytes();

  const plan::ProgramBlocks& blocks_;
  plan::Program program_;
  std::vector<BlockState> states_;
  StageBytes bytes_;
  StageTotals totals_;
  StageLedgerInput input_;
  std::int64_t layers_ = 0;
};

}  // namespace fourhold::predict

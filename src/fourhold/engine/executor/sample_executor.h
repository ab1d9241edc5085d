// Runs the passes of a program that generates text: the same operations and kernels as training,
// with attention over caches that grow by each pass's tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fourhold/engine/arena/ledger_arena.h"
#include "fourhold/engine/executor/executor.h"
#include "fourhold/engine/executor/sample_slots.h"
#include "fourhold/plan/lower_sample.h"

namespace fourhold::engine {

class SampleExecutor {
 public:
  // `arena` is laid out by predict::sample_ledger of the same arguments. Throws as Executor's.
  SampleExecutor(const model::ModelConfig& config, const model::Numerics& numerics,
                 const plan::Plan& plan, const plan::Profile& profile,
                 const plan::SampleSizes& sizes, LedgerArena& arena, Watch watch = Watch::off);
  // Prepared steps hold views of the members.
  SampleExecutor(const SampleExecutor&) = delete;
  SampleExecutor& operator=(const SampleExecutor&) = delete;

  // Weights alone, in the order of blocks, each storage once.
  [[nodiscard]] std::span<const ParameterTensors> parameters() const { return parameters_; }

  // Reads sizes.prompt_tokens tokens of each sequence, the first of them at `first_position`: int32
  // [sequences x prompt_tokens]. Positions before it have been read; later ones are forgotten.
  void read_prompt(std::span<const std::int32_t> ids, std::int64_t first_position);

  // Reads one token of each sequence and hands out the logits, [sequences, vocabulary] fp32 or
  // bf16, and memory for the choice, plan::kCandidatesType [vocabulary].
  using Choose = std::function<void(const Tensor& logits, const Tensor& candidates)>;
  void read_token(std::span<const std::int32_t> ids, std::int64_t position, const Choose& choose);

  // What has been touched so far. Every pass must have run for it to be the whole program's.
  [[nodiscard]] ledger::Ledger measured() const;
  [[nodiscard]] std::vector<std::string> kernel_choices() const { return gemms_.choices(); }

 private:
  struct PreparedStep {
    plan::Work work = plan::Work::compute;
    OperationCall call;                 // compute
    std::vector<SlotOperand> operands;  // all it touches
    std::vector<SlotOperand> written;   // of these, whole after the step
    std::vector<SlotId> born;           // of these, in use for the first time in its pass
  };
  struct PreparedPass {
    std::int64_t first_step = 0;
    ModelNumbers numbers;
    std::vector<PreparedStep> steps;
  };

  void list_parameters();
  void prepare_pass(std::size_t pass);
  void prepare_compute(const WalkedStep& walked, const plan::ProgramBlocks& blocks,
                       PreparedStep& step);
  void run(const PreparedPass& pass, std::span<const std::int32_t> ids, std::int64_t first_position,
           const Choose& choose);

  model::ModelConfig config_;
  model::Numerics numerics_;
  plan::Plan plan_;
  RankGroups groups_;  // of one rank
  Isa isa_;
  Watch watch_;
  std::vector<plan::SamplePass> passes_;
  SampleSlots walked_;
  SlotBinding slots_;
  GemmStore gemms_;
  std::vector<PreparedPass> prepared_;
  std::vector<ParameterTensors> parameters_;
  Recorder recorder_;
  std::int64_t step_count_ = 0;
};

}  // namespace fourhold::engine

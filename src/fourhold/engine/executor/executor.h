// Runs the program of one rank: no model is written by hand, every step is the description's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fourhold/engine/arena/ledger_arena.h"
#include "fourhold/engine/executor/gemm_store.h"
#include "fourhold/engine/executor/operation_call.h"
#include "fourhold/engine/executor/recorder.h"
#include "fourhold/engine/executor/slot_binding.h"
#include "fourhold/engine/executor/tensor_slots.h"
#include "fourhold/model/numerics.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine {

// A parameter with what the rank keeps of it; tensors the recipe lacks have no data.
struct ParameterTensors {
  model::ParameterId id;
  std::string name;  // "layer.3.q_weight": the same on every split
  model::ParameterRole role = model::ParameterRole::matrix;
  Tensor weight;
  Tensor master;
  Tensor moment1;
  Tensor moment2;
  Tensor gradient;
};

// What a step needs from whoever drives it: data before, the optimizer after.
class StepDriver {
 public:
  StepDriver() = default;
  StepDriver(const StepDriver&) = delete;
  StepDriver& operator=(const StepDriver&) = delete;
  virtual ~StepDriver() = default;

  // Tokens with a target, over all micro-batches of the step.
  virtual std::int64_t count_tokens() = 0;
  // int32 [micro_batch x seq] of one micro-batch.
  virtual void load_ids(std::int64_t micro_batch, const Tensor& ids) = 0;
  virtual void load_targets(std::int64_t micro_batch, const Tensor& targets) = 0;
  // After all backwards, with the mean loss of the step.
  virtual void loss(double mean) = 0;
  // The norm of all gradients; what it returns is kept in the step's scalar.
  virtual double gradient_norm(std::span<const ParameterTensors> parameters) = 0;
  // Before any weight is written.
  virtual void clip(std::span<const ParameterTensors> parameters) = 0;
  virtual void optimize(const ParameterTensors& parameter) = 0;
};

enum class Watch : std::uint8_t {
  off,
  // Guards around every entry are checked, memory is poisoned when it comes alive, and what a step
  // was to write must be written whole. Slow: for tests.
  on,
};

class Executor {
 public:
  // `arena` is laid out by the rank's predicted ledger, made for plan::arena_plan's micro-batches.
  // Throws Error where this machine lacks the plan's isa or the model has an operation without a
  // kernel, and std::logic_error where the
  // ledger lacks an entry that the program needs or has it in another size: the prediction is
  // wrong.
  Executor(const model::ModelConfig& config, const model::Numerics& numerics,
           const plan::Plan& plan, const plan::Profile& profile, LedgerArena& arena,
           Watch watch = Watch::off);
  ~Executor();

  // One optimizer step. What the driver throws leaves weights as it found them, if it is thrown
  // before its first optimize.
  void run_step(StepDriver& driver);

  // The loss over one micro-batch that is in no step, whose ids and targets are asked for when
  // their memory comes alive. The sum over the tokens with a target; weights and optimizer state
  // stay as they are.
  using Load = std::function<void(const Tensor& tokens)>;
  [[nodiscard]] double evaluate(const Load& load_ids, const Load& load_targets);

  // In the order of blocks, each storage once.
  [[nodiscard]] std::span<const ParameterTensors> parameters() const { return parameters_; }
  // What has been touched so far, with the highest offset of the arena as its reserved bytes.
  [[nodiscard]] ledger::Ledger measured() const;
  // Of the matrix products with weights that one micro-batch runs in a phase, as prepared.
  [[nodiscard]] double product_flops(plan::Phase phase) const;
  // Which kernel multiplies, and why others do not: one line for each kind of product.
  [[nodiscard]] std::vector<std::string> kernel_choices() const;

 private:
  struct PreparedStep {
    plan::StepInstance at;
    OperationCall call;                   // compute
    std::vector<SlotOperand> operands;    // all it touches, as it touches them
    std::vector<SlotOperand> written;     // of these, whole after the step
    std::vector<SlotId> born;             // of these, in use for the first time
    std::vector<std::size_t> parameters;  // optimize: indices into parameters_
  };

  // executor_prepare.cpp
  void prepare();
  void list_parameters();
  void prepare_step(const WalkedStep& walked, PreparedStep& step);
  void prepare_compute(const WalkedStep& walked, PreparedStep& prepared);
  void place_parameters(const WalkedStep& walked, PreparedStep& prepared);
  void prepare_products(OperationCall& call);
  [[nodiscard]] LinearGemms chunk_products(const OperationCall& call, std::int64_t rows);

  [[nodiscard]] Tensor tensor_of(SlotId slot) const { return slots_.tensor_of(slot); }
  [[nodiscard]] OperationContext context();
  void run(const PreparedStep& step, std::int64_t index, std::int64_t micro_batch,
           StepDriver& driver);
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> segments() const;

  model::ModelConfig config_;
  model::Numerics numerics_;
  plan::Plan plan_;  // with all micro-batches
  Isa isa_;
  Watch watch_;
  plan::ProgramBlocks blocks_;
  plan::Program program_;  // of the arena's plan
  ProgramSlots walked_;
  SlotBinding slots_;
  ModelNumbers numbers_;
  GemmStore gemms_;
  std::vector<PreparedStep> steps_;
  std::vector<ParameterTensors> parameters_;
  Recorder recorder_;
  MicroBatchState state_;
};

}  // namespace fourhold::engine

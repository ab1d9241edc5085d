// Runs the program of one rank: no model is written by hand, every step is the description's.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fourhold/engine/arena/ledger_arena.h"
#include "fourhold/engine/executor/gemm_store.h"
#include "fourhold/engine/executor/operation_call.h"
#include "fourhold/engine/executor/rank_groups.h"
#include "fourhold/engine/executor/recorder.h"
#include "fourhold/engine/executor/ring_attention.h"
#include "fourhold/engine/executor/slot_binding.h"
#include "fourhold/engine/executor/state_exchange.h"
#include "fourhold/engine/executor/tensor_slots.h"
#include "fourhold/model/numerics.h"
#include "fourhold/plan/parameter_part.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine {

// A parameter with what the rank keeps of it; tensors the recipe lacks have no data. Tensors may be
// longer than their part: the rest is padding, which is zero and never stored.
struct ParameterTensors {
  model::ParameterId id;
  std::string name;  // "layer.3.q_weight": the same on every split
  model::ParameterRole role = model::ParameterRole::matrix;
  // What the rank holds of the weight from step to step, and which elements these are.
  Tensor held_weight;
  plan::ParameterPart held;
  // What it updates: views of its weight and gradient, and the state beside them. All have
  // owned.elements() elements.
  Tensor weight;
  Tensor gradient;
  Tensor master;
  Tensor moment1;
  Tensor moment2;
  plan::ParameterPart owned;
  // Of the ranks that update the same elements, this one counts them in the norm and saves them.
  bool first_copy = true;
};

// What a step needs from whoever drives it: data before, the optimizer after.
class StepDriver {
 public:
  StepDriver() = default;
  StepDriver(const StepDriver&) = delete;
  StepDriver& operator=(const StepDriver&) = delete;
  virtual ~StepDriver() = default;

  // Tokens with a target, of this rank, over all its micro-batches of the step.
  virtual std::int64_t count_tokens() = 0;
  // The same of all ranks, before the first forward.
  virtual void learned_tokens(std::int64_t /*tokens*/) {}
  // int32 [micro_batch x seq / cp] of one of the rank's micro-batches.
  virtual void load_ids(std::int64_t micro_batch, const Tensor& ids) = 0;
  virtual void load_targets(std::int64_t micro_batch, const Tensor& targets) = 0;
  // After all backwards, with the mean loss of the step.
  virtual void loss(double mean) = 0;
  // The sum of squares of this rank's gradients: of its first copies.
  virtual double squared_norm(std::span<const ParameterTensors> parameters) = 0;
  // The same of all ranks.
  virtual void total_squared_norm(double squared) = 0;
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
  // `arena` is laid out by the rank's predicted ledger, made for predict::arena_plan's
  // micro-batches. Throws Error where this machine lacks the plan's isa or the model has an
  // operation without a kernel, and std::logic_error where the ledger lacks an entry that the
  // program needs or has it in another size: the prediction is wrong.
  Executor(const model::ModelConfig& config, const model::Numerics& numerics,
           const plan::Plan& plan, const plan::Profile& profile, LedgerArena& arena,
           Watch watch = Watch::off, const OwnRank& place = {});
  ~Executor();

  // One optimizer step. What the driver throws leaves weights as it found them, if it is thrown
  // before its first optimize.
  void run_step(StepDriver& driver);

  // The loss over one micro-batch that is in no step, whose ids and targets are asked for when
  // their memory comes alive. The sum over the tokens of this rank with a target (0 where another
  // rank makes the loss); weights and optimizer state stay as they are. All ranks call it together.
  using Load = std::function<void(const Tensor& tokens)>;
  [[nodiscard]] double evaluate(const Load& load_ids, const Load& load_targets);

  // In the order of blocks, each storage once.
  [[nodiscard]] std::span<const ParameterTensors> parameters() const { return parameters_; }
  // What has been touched so far, with the highest offset of the arena as its reserved bytes.
  [[nodiscard]] ledger::Ledger measured() const;
  // Where each of its entries lies, in bytes from the arena's first, as kernels were given it.
  [[nodiscard]] std::vector<std::int64_t> measured_offsets() const {
    return slots_.measured_offsets(recorder_);
  }
  // Operations of a kind that steps have run in a phase, and products with weights of a form.
  [[nodiscard]] std::int64_t calls(model::OpKind kind, plan::Phase phase) const {
    return recorder_.calls(kind, phase);
  }
  [[nodiscard]] ProductCount products_run(GemmForm form) const { return gemms_.products_run(form); }
  // Of the matrix products with weights that one micro-batch runs in a phase, as prepared.
  [[nodiscard]] double product_flops(plan::Phase phase) const;
  // Sent by this rank since it began.
  [[nodiscard]] Traffic traffic() const {
    return collectives_ ? collectives_->traffic() : Traffic{};
  }
  [[nodiscard]] const RankGroups& groups() const { return groups_; }
  // Null on the only rank.
  [[nodiscard]] Collectives* collectives() { return collectives_ ? &*collectives_ : nullptr; }
  // Which kernel multiplies, and why others do not: one line for each kind of product.
  [[nodiscard]] std::vector<std::string> kernel_choices() const;

 private:
  struct PreparedStep {
    plan::StepInstance at;
    OperationCall call;                    // compute
    std::vector<SlotOperand> operands;     // all it touches, as it touches them
    std::vector<SlotOperand> written;      // of these, whole after the step
    std::vector<SlotId> born;              // of these, in use for the first time
    std::vector<std::size_t> parameters;   // optimize: indices into parameters_
    std::vector<ParameterMotion> motions;  // what moves weights and gradients between ranks
  };

  // executor_prepare.cpp
  void prepare();
  void list_parameters();
  void place_parts(const plan::LocalParameter& local, const ParameterSlots& slots,
                   ParameterTensors& own) const;
  void prepare_step(const WalkedStep& walked, PreparedStep& step);
  void prepare_compute(const WalkedStep& walked, PreparedStep& prepared);
  void place_parameters(const WalkedStep& walked, PreparedStep& prepared);
  void prepare_products(OperationCall& call);
  // executor_exchange.cpp
  void prepare_exchange(const WalkedStep& walked, PreparedStep& step);
  [[nodiscard]] std::vector<ParameterMotion> motions_of(const WalkedStep& walked);
  [[nodiscard]] std::optional<ParameterMotion> motion_of_block(const WalkedStep& walked,
                                                               std::size_t parameter);
  [[nodiscard]] std::optional<ParameterMotion> motion_after_backward(const WalkedStep& walked,
                                                                     std::size_t parameter);
  [[nodiscard]] bool is_listed(const WalkedStep& walked, std::size_t parameter) const;
  void exchange(const PreparedStep& step);
  // Before each step: it may need a block whose gather is under way, or gather the next.
  void finish_gather_before(const PreparedStep& step);
  void send(const PreparedStep& step);
  void receive(const PreparedStep& step);
  // Over the ranks that plan/step_scalars.h states for the work.
  template <class T>
  [[nodiscard]] T sum_of(plan::Work work, T own);
  [[nodiscard]] LinearGemms chunk_products(const OperationCall& call, std::int64_t rows);

  [[nodiscard]] Tensor tensor_of(SlotId slot) const { return slots_.tensor_of(slot); }
  [[nodiscard]] OperationContext context();
  void run(const PreparedStep& step, std::int64_t index, std::int64_t micro_batch,
           StepDriver& driver);
  void run_work(const PreparedStep& step, std::int64_t micro_batch, StepDriver& driver);
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> segments() const;

  model::ModelConfig config_;
  model::Numerics numerics_;
  plan::Plan plan_;  // with all micro-batches
  Isa isa_;
  Watch watch_;
  RankGroups groups_;
  plan::ProgramBlocks blocks_;
  plan::Program program_;  // of the arena's plan
  ProgramSlots walked_;
  SlotBinding slots_;
  std::optional<Collectives> collectives_;  // none on the only rank
  ContextRing ring_;
  ModelNumbers numbers_;
  GemmStore gemms_;
  std::vector<PreparedStep> steps_;
  std::vector<ParameterTensors> parameters_;
  Recorder recorder_;
  MicroBatchState state_;
  std::array<std::optional<int>, 2> under_way_;  // tags of what is sent: forward, backward
  const PreparedStep* gathering_ = nullptr;      // started and not finished
};

}  // namespace fourhold::engine

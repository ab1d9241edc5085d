#include "fourhold/engine/executor/executor.h"

#include <algorithm>
#include <utility>

#include "fourhold/engine/kernels/isa.h"
#include "fourhold/predict/memory.h"

namespace fourhold::engine {
namespace {

using plan::Work;

}  // namespace

Executor::Executor(const model::ModelConfig& config, const model::Numerics& numerics,
                   const plan::Plan& plan, const plan::Profile& profile, LedgerArena& arena,
                   Watch watch)
    : config_(config),
      numerics_(numerics),
      plan_(plan),
      isa_(isa_of_plan(plan.isa)),
      watch_(watch),
      blocks_(plan::lower_blocks(config, predict::arena_plan(plan), profile)),
      program_(plan::lower(config, blocks_, predict::arena_plan(plan), profile, 0,
                           plan::ProgramKind::train_step)),
      walked_(walk_program(program_, blocks_)),
      slots_(walked_.slots, arena),
      numbers_{config_, numerics_, plan_.micro_batch, plan_.seq},
      gemms_(isa_),
      recorder_(walked_.slots.size()) {
  prepare();
}

Executor::~Executor() = default;

OperationContext Executor::context() {
  return {numbers_, state_, {.threads = static_cast<int>(plan_.threads), .isa = isa_}};
}

// Steps before the micro-batches, of each micro-batch, and after: on one stage they follow each
// other.
std::vector<std::pair<std::size_t, std::size_t>> Executor::segments() const {
  std::vector<std::pair<std::size_t, std::size_t>> segments;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const bool starts = i == 0 || steps_[i].at.micro_batch != steps_[i - 1].at.micro_batch;
    if (starts) segments.emplace_back(i, i);
    segments.back().second = i + 1;
  }
  return segments;
}

void Executor::run_step(StepDriver& driver) {
  state_ = {};
  const auto parts = segments();
  const auto laid_out = static_cast<std::int64_t>(parts.size()) - 2;  // micro-batches
  const auto run_part = [&](std::size_t part, std::int64_t micro_batch) {
    for (std::size_t i = parts[part].first; i < parts[part].second; ++i) {
      run(steps_[i], static_cast<std::int64_t>(i), micro_batch, driver);
    }
  };
  run_part(0, -1);
  for (std::int64_t m = 0; m < plan_.grad_accum; ++m) {
    // The first and the last lie apart; those between lie where the second does.
    const std::int64_t from_end = plan_.grad_accum - m;
    const std::int64_t place = from_end == 1 ? laid_out - 1 : std::min(m, laid_out - 2);
    run_part(static_cast<std::size_t>(1 + std::max<std::int64_t>(place, 0)), m);
  }
  run_part(parts.size() - 1, -1);
}

void Executor::run(const PreparedStep& step, std::int64_t index, std::int64_t micro_batch,
                   StepDriver& driver) {
  if (watch_ == Watch::on) slots_.watch(step.born);
  switch (step.at.work) {
    case Work::count_tokens: {
      const std::int64_t tokens = driver.count_tokens();
      state_.inverse_tokens = 1.0F / static_cast<float>(tokens);
      tensor_of(walked_.scalars[kTokenCount]).as<std::int64_t>()[0] = tokens;
      tensor_of(walked_.scalars[kLossSum]).as<double>()[0] = 0;
      break;
    }
    case Work::load_ids:
      for (const auto& [slot, operand] : step.operands) driver.load_ids(micro_batch, operand);
      break;
    case Work::load_targets:
      for (const auto& [slot, operand] : step.operands) driver.load_targets(micro_batch, operand);
      break;
    case Work::compute:
      run_operation(step.call, context());
      break;
    case Work::reduce_loss: {
      tensor_of(walked_.scalars[kLossSum]).as<double>()[0] = state_.loss_sum;
      const auto tokens = tensor_of(walked_.scalars[kTokenCount]).as<std::int64_t>()[0];
      driver.loss(state_.loss_sum / static_cast<double>(tokens));
      break;
    }
    case Work::gradient_norm:
      tensor_of(walked_.scalars[kGradientNorm]).as<double>()[0] = driver.gradient_norm(parameters_);
      break;
    case Work::clip:
      driver.clip(parameters_);
      break;
    case Work::optimize:
      for (const std::size_t parameter : step.parameters) driver.optimize(parameters_[parameter]);
      break;
    default:
      break;  // messages between ranks: there is one
  }
  for (const auto& [slot, operand] : step.operands) recorder_.touch(slot, operand, index);
  if (watch_ == Watch::on) slots_.check(step.operands, step.written);
}

double Executor::evaluate(const Load& load_ids, const Load& load_targets) {
  state_ = {};
  state_.purpose = Purpose::evaluate;
  // The first micro-batch's forwards, in its own place: between two steps nothing else is there.
  const auto [begin, end] = segments()[1];
  const OperationContext context = this->context();
  for (std::size_t i = begin; i < end; ++i) {
    const PreparedStep& step = steps_[i];
    if (step.at.work == Work::load_ids) load_ids(step.operands.front().second);
    if (step.at.work == Work::load_targets) load_targets(step.operands.front().second);
    if (step.at.work == Work::compute && step.call.phase == plan::Phase::forward) {
      run_operation(step.call, context);
    }
  }
  return state_.loss_sum;
}

ledger::Ledger Executor::measured() const {
  return slots_.measured(recorder_, static_cast<std::int64_t>(steps_.size()));
}

double Executor::product_flops(plan::Phase phase) const {
  double flops = 0;
  for (const PreparedStep& step : steps_) {
    if (step.at.work != plan::Work::compute || step.at.micro_batch != 0) continue;
    if (step.call.operation->kind != model::OpKind::linear || step.call.phase != phase) continue;
    const LinearGemms& gemms = step.call.gemms;
    flops += gemms.forward.flops + gemms.backward_data.flops + gemms.backward_weight.flops;
  }
  return flops;
}

std::vector<std::string> Executor::kernel_choices() const { return gemms_.choices(); }

}  // namespace fourhold::engine

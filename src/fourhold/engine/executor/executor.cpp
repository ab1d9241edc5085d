#include "fourhold/engine/executor/executor.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "fourhold/engine/kernels/isa.h"
#include "fourhold/predict/memory.h"

namespace fourhold::engine {
namespace {

using plan::Work;

}  // namespace

Executor::Executor(const model::ModelConfig& config, const model::Numerics& numerics,
                   const plan::Plan& plan, const plan::Profile& profile, LedgerArena& arena,
                   Watch watch, const OwnRank& place)
    : config_(config),
      numerics_(numerics),
      plan_(plan),
      isa_(isa_of_plan(plan.isa)),
      watch_(watch),
      groups_(plan, place.rank),
      blocks_(plan::lower_blocks(config, predict::arena_plan(plan), profile)),
      program_(plan::lower(config, blocks_, predict::arena_plan(plan), profile, groups_.at().pp,
                           plan::ProgramKind::train_step)),
      walked_(walk_program(program_, blocks_)),
      slots_(walked_.slots, arena),
      ring_(groups_.of(plan::Axis::cp)),
      numbers_{config_, numerics_, plan_.micro_batch, plan_.seq / plan_.cp},
      gemms_(isa_),
      recorder_(walked_.slots.size()) {
  if (place.communicator != nullptr && plan.devices() > 1) {
    std::span<std::byte> buffer;
    if (const SlotId slot = walked_.buffers.exchange; slot != kNoSlot) {
      buffer = {tensor_of(slot).data, static_cast<std::size_t>(tensor_of(slot).bytes())};
    }
    collectives_.emplace(*place.communicator, buffer, static_cast<int>(plan.threads));
  }
  prepare();
}

Executor::~Executor() = default;

OperationContext Executor::context() {
  return {numbers_,
          state_,
          {.threads = static_cast<int>(plan_.threads), .isa = isa_},
          {&groups_, collectives(), &ring_}};
}

// Steps before the micro-batches, of each micro-batch, and after: on one stage they follow each
// other, and the arena's program has fewer of them than the run.
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
  if (program_.plan.grad_accum == plan_.grad_accum) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      run(steps_[i], static_cast<std::int64_t>(i), steps_[i].at.micro_batch, driver);
    }
    return;
  }
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
  finish_gather_before(step);
  if (watch_ == Watch::on) slots_.watch(step.born);
  run_work(step, micro_batch, driver);
  for (const auto& [slot, operand] : step.operands) recorder_.touch(slot, operand, index);
  if (watch_ == Watch::on && gathering_ != &step) slots_.check(step.operands, step.written);
}

void Executor::run_work(const PreparedStep& step, std::int64_t micro_batch, StepDriver& driver) {
  switch (step.at.work) {
    case Work::count_tokens: {
      const std::int64_t tokens = sum_of(Work::count_tokens, driver.count_tokens());
      driver.learned_tokens(tokens);
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
      recorder_.called(step.call.operation->kind, step.call.phase);
      break;
    case Work::reduce_loss: {
      // Ranks of one tp group have computed the same loss: the first brings it.
      const double own = groups_.at().tp == 0 ? state_.loss_sum : 0;
      const double sum = sum_of(Work::reduce_loss, own);
      tensor_of(walked_.scalars[kLossSum]).as<double>()[0] = sum;
      const auto tokens = tensor_of(walked_.scalars[kTokenCount]).as<std::int64_t>()[0];
      driver.loss(sum / static_cast<double>(tokens));
      break;
    }
    case Work::gradient_norm: {
      const double squared = sum_of(Work::gradient_norm, driver.squared_norm(parameters_));
      tensor_of(walked_.scalars[kGradientNorm]).as<double>()[0] = std::sqrt(squared);
      driver.total_squared_norm(squared);
      break;
    }
    case Work::clip:
      driver.clip(parameters_);
      // No rank writes before all know that what they write is finite: one that finds it is not
      // throws, and the others learn of it here.
      if (collectives_) (void)collectives_->sum(groups_.of(plan::Axis::world), std::int64_t{0});
      break;
    case Work::optimize:
      for (const std::size_t parameter : step.parameters) driver.optimize(parameters_[parameter]);
      break;
    default:
      exchange(step);
      break;
  }
}

// The first micro-batch's forwards, in its own place: between two steps nothing else is there.
double Executor::evaluate(const Load& load_ids, const Load& load_targets) {
  state_ = {};
  state_.purpose = Purpose::evaluate;
  const OperationContext context = this->context();
  for (const PreparedStep& step : steps_) {
    if (step.at.micro_batch != 0 || step.at.direction != plan::Direction::forward) continue;
    finish_gather_before(step);
    switch (step.at.work) {
      case Work::load_ids:
        load_ids(step.operands.front().second);
        break;
      case Work::load_targets:
        load_targets(step.operands.front().second);
        break;
      case Work::compute:
        run_operation(step.call, context);
        break;
      default:
        exchange(step);
        break;
    }
  }
  return groups_.at().tp == 0 ? state_.loss_sum : 0;
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

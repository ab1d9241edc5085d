#include "fourhold/engine/executor/sample_executor.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "fourhold/engine/executor/operation_operands.h"
#include "fourhold/engine/kernels/isa.h"
#include "fourhold/predict/entry_names.h"

namespace fourhold::engine {

using plan::Work;

SampleExecutor::SampleExecutor(const model::ModelConfig& config, const model::Numerics& numerics,
                               const plan::Plan& plan, const plan::Profile& profile,
                               const plan::SampleSizes& sizes, LedgerArena& arena, Watch watch)
    : config_(config),
      numerics_(numerics),
      plan_(plan),
      groups_(plan, 0),
      isa_(isa_of_plan(plan.isa)),
      watch_(watch),
      passes_(plan::lower_sample(config, plan, profile, sizes)),
      walked_(walk_sample(passes_, config.vocab)),
      slots_(walked_.slots, arena),
      gemms_(isa_),
      recorder_(walked_.slots.size()) {
  list_parameters();
  for (std::size_t i = 0; i < passes_.size(); ++i) prepare_pass(i);
  if (watch_ == Watch::off) return;
  // What attention reads beyond the tokens that were written must show.
  for (std::size_t i = 0; i < walked_.slots.size(); ++i) {
    const auto slot = static_cast<SlotId>(i);
    if (walked_.slots[i].category == ledger::Category::kv_cache) slots_.watch({&slot, 1});
  }
}

void SampleExecutor::list_parameters() {
  const plan::ProgramBlocks& blocks = passes_.back().blocks;
  for (const TrainedParameter& own : walked_.parameters) {
    const plan::ProgramBlock& block = blocks.blocks[static_cast<std::size_t>(own.block)];
    const model::Parameter& parameter =
        block.sharded.parameters[static_cast<std::size_t>(own.parameter)].use.parameter;
    const model::ParameterId id{block.sharded.operations.block, own.layer, parameter.name};
    ParameterTensors& listed = parameters_.emplace_back();
    listed.id = id;
    listed.name = to_string(id);
    listed.role = parameter.role;
    listed.weight = slots_.tensor_of(own.slots.weight);
  }
}

void SampleExecutor::prepare_pass(std::size_t pass) {
  PreparedPass prepared{
      step_count_, {config_, numerics_, plan_.micro_batch, passes_[pass].tokens}, {}};
  std::vector<bool> begun(walked_.slots.size(), false);
  for (const WalkedStep& walked : walked_.passes[pass]) {
    PreparedStep& step = prepared.steps.emplace_back();
    step.work = walked.at.work;
    if (step.work == Work::compute) {
      prepare_compute(walked, passes_[pass].blocks, step);
    } else {
      for (const SlotId slot : walked.inputs) {
        step.operands.emplace_back(slot, slots_.tensor_of(slot));
      }
      step.written = {step.operands.back()};
    }
    for (const auto& [slot, operand] : step.operands) {
      const auto at = static_cast<std::size_t>(slot);
      if (begun[at] || walked_.slots[at].is_state()) continue;
      begun[at] = true;
      step.born.push_back(slot);
    }
  }
  step_count_ += static_cast<std::int64_t>(prepared.steps.size());
  prepared_.push_back(std::move(prepared));
}

void SampleExecutor::prepare_compute(const WalkedStep& walked, const plan::ProgramBlocks& blocks,
                                     PreparedStep& step) {
  const plan::ProgramBlock& block = blocks.blocks[static_cast<std::size_t>(walked.at.block)];
  const plan::Step& own = *walked.at.step;
  step.call = start_call(block, own, config_);
  std::size_t caches = 0;
  for (int i = 0; i < own.accesses.size(); ++i) {
    const plan::Access& access = own.accesses[i];
    const plan::ProgramTensor& tensor = block.tensors[static_cast<std::size_t>(access.tensor)];
    const SlotId slot = walked.accesses[static_cast<std::size_t>(i)];
    const Tensor view{slots_.tensor_of(slot).data, tensor.dtype, predict::dims_of(tensor.shape)};
    step.operands.emplace_back(slot, view);
    if (tensor.name == model::TensorName::kernel_scratch) {
      step.call.scratch = {view.data, static_cast<std::size_t>(view.bytes())};
    } else if (access.mode == plan::AccessMode::append) {
      step.call.caches[caches++] = view;
    } else {
      if (access.mode == plan::AccessMode::write) step.written.emplace_back(slot, view);
      place_operand(access, tensor, view, step.call);
    }
  }
  for (const std::int16_t parameter : own.reads_parameters) {
    const SlotId slot = walked.parameters[static_cast<std::size_t>(parameter)].weight;
    step.call.parameters[parameter_place(step.call, parameter)] = slots_.tensor_of(slot);
    step.operands.emplace_back(slot, slots_.tensor_of(slot));
  }
  if (step.call.operation->kind == model::OpKind::linear) {
    prepare_forward_product(step.call, gemms_, static_cast<int>(plan_.threads));
  }
}

void SampleExecutor::read_prompt(std::span<const std::int32_t> ids, std::int64_t first_position) {
  assert(prepared_.size() == 2 && "there is a pass over the prompt");
  run(prepared_.front(), ids, first_position, {});
}

void SampleExecutor::read_token(std::span<const std::int32_t> ids, std::int64_t position,
                                const Choose& choose) {
  run(prepared_.back(), ids, position, choose);
}

void SampleExecutor::run(const PreparedPass& pass, std::span<const std::int32_t> ids,
                         std::int64_t first_position, const Choose& choose) {
  assert(first_position + pass.numbers.seq <= plan_.seq && "the caches have room");
  MicroBatchState state;
  state.purpose = Purpose::evaluate;
  state.first_position = first_position;
  const OperationContext context{pass.numbers,
                                 state,
                                 {.threads = static_cast<int>(plan_.threads), .isa = isa_},
                                 {&groups_, nullptr, nullptr}};
  std::int64_t index = pass.first_step;
  for (const PreparedStep& step : pass.steps) {
    if (watch_ == Watch::on) slots_.watch(step.born);
    if (step.work == Work::load_ids) {
      const Tensor& to = step.operands.front().second;
      assert(to.bytes() == static_cast<std::int64_t>(ids.size_bytes()) && "ids of every row");
      std::memcpy(to.data, ids.data(), ids.size_bytes());
    } else if (step.work == Work::compute) {
      run_operation(step.call, context);
    } else {
      choose(step.operands[0].second, step.operands[1].second);
    }
    for (const auto& [slot, operand] : step.operands) recorder_.touch(slot, operand, index);
    if (watch_ == Watch::on) slots_.check(step.operands, step.written);
    ++index;
  }
}

ledger::Ledger SampleExecutor::measured() const { return slots_.measured(recorder_, step_count_); }

}  // namespace fourhold::engine

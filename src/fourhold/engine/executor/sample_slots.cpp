#include "fourhold/engine/executor/sample_slots.h"

#include <map>
#include <tuple>
#include <utility>

#include "fourhold/plan/sample_candidates.h"
#include "fourhold/predict/entry_names.h"

namespace fourhold::engine {
namespace {

using ledger::Category;
using plan::StepInstance;
using plan::Work;

class SampleWalk {
 public:
  SampleWalk(const std::vector<plan::SamplePass>& passes, std::int64_t vocab)
      : passes_(passes), vocab_(vocab) {}

  SampleSlots run() {
    add_state();
    for (const plan::SamplePass& pass : passes_) {
      pass_ = &pass;
      made_.clear();
      result_.passes.emplace_back();
      plan::expand(pass.program, pass.blocks, [this](const StepInstance& at) {
        WalkedStep step;
        step.at = at;
        if (at.work == Work::load_ids) load(step);
        if (at.work == Work::compute) compute(step);
        if (at.work == Work::choose_token) choose(step);
        result_.passes.back().push_back(std::move(step));
        ++now_;
      });
    }
    return std::move(result_);
  }

 private:
  using PlaceKey = std::pair<std::int16_t, std::int32_t>;                   // block, layer
  using StorageKey = std::tuple<std::int16_t, std::int32_t, std::int16_t>;  // and its tensor

  [[nodiscard]] const plan::ProgramBlock& block(const StepInstance& at) const {
    return pass_->blocks.blocks[static_cast<std::size_t>(at.block)];
  }
  [[nodiscard]] const plan::ProgramTensor& tensor(const StepInstance& at,
                                                  std::int16_t index) const {
    return block(at).tensors[static_cast<std::size_t>(index)];
  }

  SlotId add(const TensorSlot& slot) {
    result_.slots.push_back(slot);
    return static_cast<SlotId>(result_.slots.size() - 1);
  }

  void name(TensorSlot& slot, const StepInstance& at, const plan::ProgramTensor& tensor) const {
    slot.key.block = to_string(block(at).sharded.operations.block);
    slot.key.name = to_string(tensor.name);
    slot.key.variant = predict::variant_text(tensor.variant);
    slot.key.layer = at.layer;
    slot.category = tensor.category;
  }

  SlotId add_tensor(const StepInstance& at, std::int16_t owner) {
    const plan::ProgramTensor& own = tensor(at, owner);
    TensorSlot slot;
    name(slot, at, own);
    slot.key.role = own.role;
    slot.dtype = own.dtype;
    slot.dims = predict::dims_of(own.shape);
    if (own.category != Category::kv_cache) {
      slot.key.micro_batch = pass_->program.pass;
      slot.first_step = now_;
    }
    return add(slot);
  }

  // Weights and caches belong to all passes; the last one has all blocks.
  void add_state() {
    pass_ = &passes_.back();
    for (const plan::BlockInstance& place :
         plan::block_instances(pass_->program.chunks[0], pass_->blocks)) {
      const StepInstance at{.block = place.block, .layer = place.layer};
      const auto& parameters = block(at).sharded.parameters;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        add_parameter(at, static_cast<std::int16_t>(i));
      }
      for (std::size_t i = 0; i < block(at).tensors.size(); ++i) {
        const auto index = static_cast<std::int16_t>(i);
        if (tensor(at, index).category != Category::kv_cache) continue;
        caches_[{at.block, at.layer, index}] = add_tensor(at, index);
      }
    }
  }

  void add_parameter(const StepInstance& at, std::int16_t index) {
    const plan::LocalParameter& parameter =
        block(at).sharded.parameters[static_cast<std::size_t>(index)];
    ParameterSlots slots;
    if (parameter.use.of_embedding) {
      slots = state_.at({pass_->blocks.embedding, StepInstance::kNone})[table_];
    } else {
      TensorSlot slot;
      slot.key.block = to_string(block(at).sharded.operations.block);
      slot.key.name = to_string(parameter.use.parameter.name);
      slot.key.variant = predict::variant_text(parameter.use.variant);
      slot.key.layer = at.layer;
      slot.category = Category::weight;
      slot.dtype = pass_->program.recipe.compute;
      slot.dims = predict::dims_of(parameter.shape);
      slots.weight = add(slot);
      result_.parameters.push_back({at.block, at.layer, index, slots});
      if (parameter.use.parameter.name == model::TensorName::token_embedding) {
        table_ = static_cast<std::size_t>(index);
      }
    }
    state_[{at.block, at.layer}].push_back(slots);
  }

  void load(WalkedStep& step) {
    border_ = add_tensor(step.at, owner(step.at, block(step.at).input));
    step.inputs = {border_};
  }

  [[nodiscard]] std::int16_t owner(const StepInstance& at, std::int16_t index) const {
    return tensor(at, index).storage;
  }

  void compute(WalkedStep& step) {
    const StepInstance& at = step.at;
    const plan::ProgramBlock& own = block(at);
    for (const plan::Access& access : at.step->accesses) {
      const std::int16_t storage = owner(at, access.tensor);
      step.accesses.push_back(slot_of({at.block, at.layer, storage}, at));
    }
    step.parameters = state_.at({at.block, at.layer});
    if (at.step == &own.forward.back()) {
      border_ = made_.at({at.block, at.layer, owner(at, own.output)});
    }
  }

  SlotId slot_of(const StorageKey& key, const StepInstance& at) {
    if (const auto cache = caches_.find(key); cache != caches_.end()) return cache->second;
    const auto [found, is_new] = made_.try_emplace(key, kNoSlot);
    if (!is_new) return found->second;
    const std::int16_t storage = std::get<2>(key);
    if (storage != owner(at, block(at).input)) {
      found->second = add_tensor(at, storage);
      return found->second;
    }
    // What the block before left goes by the name it has here.
    if (at.block != pass_->blocks.embedding) {
      name(result_.slots[static_cast<std::size_t>(border_)], at, tensor(at, storage));
    }
    found->second = border_;
    return border_;
  }

  void choose(WalkedStep& step) {
    TensorSlot slot;
    slot.key.block = "step";
    slot.key.name = plan::kCandidatesName;
    slot.key.role = ledger::Role::buffer;
    slot.category = Category::scratch;
    slot.dtype = plan::kCandidatesType;
    slot.dims = Dims{vocab_};
    slot.first_step = now_;
    step.inputs = {border_, add(slot)};
  }

  const std::vector<plan::SamplePass>& passes_;
  std::int64_t vocab_;
  const plan::SamplePass* pass_ = nullptr;  // the one at work
  SampleSlots result_;
  std::int64_t now_ = 0;
  std::map<PlaceKey, std::vector<ParameterSlots>> state_;
  std::map<StorageKey, SlotId> caches_;
  std::map<StorageKey, SlotId> made_;  // by the pass at work
  std::size_t table_ = 0;              // place of the token table among the embedding's parameters
  SlotId border_ = kNoSlot;            // what stands between two blocks
};

}  // namespace

SampleSlots walk_sample(const std::vector<plan::SamplePass>& passes, std::int64_t vocab) {
  return SampleWalk(passes, vocab).run();
}

}  // namespace fourhold::engine

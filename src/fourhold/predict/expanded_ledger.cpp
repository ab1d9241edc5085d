#include "fourhold/predict/expanded_ledger.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "fourhold/ledger/timeline.h"
#include "fourhold/plan/expand.h"
#include "fourhold/predict/entry_names.h"
#include "fourhold/predict/stage_model.h"

namespace fourhold::predict {
namespace {

using ledger::Category;
using ledger::Entry;
using ledger::Role;
using plan::Direction;
using plan::StepInstance;
using plan::Work;

constexpr std::int32_t kNoEntry = -1;

// Entries of one block at one layer and micro-batch, by owning tensor; what backward makes anew has
// entries of its own.
struct Instance {
  std::vector<std::int32_t> forward;
  std::vector<std::int32_t> backward;
};

// Entries of a block's parameters at one layer.
struct ParameterEntries {
  std::vector<std::int32_t> gradient;
  std::vector<std::int32_t> whole_gradient;
  std::vector<std::int32_t> gathered;
};

using InstanceKey = std::tuple<std::int16_t, std::int32_t, std::int32_t>;  // block, layer, micro
using PlaceKey = std::pair<std::int16_t, std::int32_t>;                    // block, layer
using BorderKey = std::pair<std::int32_t, std::int32_t>;                   // chunk, micro-batch

class Expander {
 public:
  Expander(const plan::ProgramBlocks& blocks, const StageModel& stage)
      : blocks_(blocks),
        stage_(stage),
        lazy_(stage.input().walk.gradient_lifetime == plan::GradientLifetime::backward_to_step) {}

  ledger::Ledger run() {
    plan::expand(stage_.program(), blocks_, [&](const StepInstance& at) {
      visit(at);
      ++now_;
    });
    add_residents();
    for (const std::int32_t entry : whole_run_) {
      entries()[static_cast<std::size_t>(entry)].first_step = 0;
      entries()[static_cast<std::size_t>(entry)].last_step = now_ - 1;
    }
    ledger::mark_peak(ledger_);
    return std::move(ledger_);
  }

 private:
  [[nodiscard]] std::vector<Entry>& entries() { return ledger_.entries; }
  [[nodiscard]] const plan::ProgramBlock& block(std::int16_t index) const {
    return blocks_.blocks[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const BlockState& state(std::int16_t index) const {
    return (*stage_.input().walk.states)[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const plan::StateMotion& motion() const { return stage_.program().motion; }

  std::int32_t new_entry(const StepInstance& at, std::string_view name, std::string_view variant,
                         Role role) {
    Entry& entry = entries().emplace_back();
    entry.key.block = to_string(block(at.block).sharded.operations.block);
    entry.key.name = name;
    entry.key.variant = variant;
    entry.key.role = role;
    entry.key.layer = at.layer;
    entry.key.micro_batch = at.micro_batch;
    entry.first_step = now_;
    entry.last_step = now_;
    return static_cast<std::int32_t>(entries().size() - 1);
  }
  void use(std::int32_t entry) {
    if (entry != kNoEntry) entries()[static_cast<std::size_t>(entry)].last_step = now_;
  }

  std::int32_t tensor_entry(const StepInstance& at, std::int16_t owner) {
    const plan::ProgramTensor& tensor = block(at.block).tensors[static_cast<std::size_t>(owner)];
    const std::int32_t index =
        new_entry(at, to_string(tensor.name), variant_text(tensor.variant), tensor.role);
    Entry& entry = entries()[static_cast<std::size_t>(index)];
    entry.shape = dims_of(tensor.shape);
    entry.dtype = tensor.dtype;
    entry.bytes = Bytes(bytes_of(tensor.shape.elements(), tensor.dtype));
    entry.category = tensor.category;
    return index;
  }

  Instance& instance(const StepInstance& at) {
    Instance& made = instances_[{at.block, at.layer, at.micro_batch}];
    if (made.forward.empty()) {
      made.forward.assign(block(at.block).tensors.size(), kNoEntry);
      made.backward.assign(block(at.block).tensors.size(), kNoEntry);
    }
    return made;
  }
  ParameterEntries& parameters(const StepInstance& at) {
    ParameterEntries& made = parameters_[{at.block, at.layer}];
    if (made.gradient.empty()) {
      const std::size_t count = block(at.block).sharded.parameters.size();
      made.gradient.assign(count, kNoEntry);
      made.whole_gradient.assign(count, kNoEntry);
      made.gathered.assign(count, kNoEntry);
    }
    return made;
  }
  [[nodiscard]] std::int16_t owner(std::int16_t block_index, std::int16_t tensor) const {
    return tensor < 0 ? tensor
                      : block(block_index).tensors[static_cast<std::size_t>(tensor)].storage;
  }

  void visit(const StepInstance& at) {
    switch (at.work) {
      case Work::compute:
        compute(at);
        break;
      case Work::load_ids:
      case Work::load_targets:
        load(at);
        break;
      case Work::receive_activation:
        border_[{at.chunk, at.micro_batch}] =
            tensor_entry(at, owner(at.block, block(at.block).input));
        break;
      case Work::receive_gradient:
        border_[{at.chunk, at.micro_batch}] =
            tensor_entry(at, owner(at.block, block(at.block).output_gradient));
        break;
      case Work::send_activation:
      case Work::send_gradient:
        use(border_[{at.chunk, at.micro_batch}]);
        break;
      case Work::gather_weights:
        gather(at);
        break;
      case Work::release_weights:
        for (const std::int32_t entry : parameters(at).gathered) use(entry);
        break;
      case Work::reduce_gradients:
        reduce(at);
        break;
      case Work::sum_replicas:
      case Work::sum_tied:
      case Work::reduce_all:
      case Work::optimize:
      case Work::gather_updated:
        for (const std::int32_t entry : parameters(at).gradient) {
          if (at.work != Work::gather_updated) use(entry);
        }
        if (at.work == Work::optimize) optimizer_steps_.push_back(now_);
        break;
      case Work::end_micro_batch:
      case Work::gradient_norm:
      case Work::clip:
        break;
    }
  }

  void load(const StepInstance& at) {
    const plan::ProgramBlock& own = block(at.block);
    for (std::size_t i = 0; i < own.tensors.size(); ++i) {
      if (own.tensors[i].category != Category::input) continue;
      instance(at).forward[i] = tensor_entry(at, static_cast<std::int16_t>(i));
    }
  }

  void compute(const StepInstance& at) {
    const plan::ProgramBlock& own = block(at.block);
    const bool forward = at.step->phase == plan::Phase::forward;
    for (const plan::Access& access : at.step->accesses) {
      const std::int16_t storage = owner(at.block, access.tensor);
      std::int32_t& entry = slot(at, storage, forward);
      if (entry == kNoEntry) {
        const bool enters = forward ? storage == owner(at.block, own.input)
                                    : storage == owner(at.block, own.output_gradient);
        entry = enters ? enter(at, storage) : tensor_entry(at, storage);
      }
      use(entry);
    }
    for (const std::int16_t parameter : at.step->writes_gradients) {
      write_gradient(at, static_cast<std::size_t>(parameter));
    }
    const std::vector<plan::Step>& steps = forward ? own.forward : own.backward;
    if (at.step != &steps.back()) return;
    const std::int16_t leaving = owner(at.block, forward ? own.output : own.input_gradient);
    if (leaving >= 0) {
      const std::int32_t entry = slot(at, leaving, forward);
      if (entry != kNoEntry) border_[{at.chunk, at.micro_batch}] = entry;
      use(entry);
    }
  }

  // Kept storages have one entry in both directions, all others one per direction.
  std::int32_t& slot(const StepInstance& at, std::int16_t storage, bool forward) {
    Instance& own = instance(at);
    const bool kept = block(at.block).tensors[static_cast<std::size_t>(storage)].kept;
    return (forward || kept ? own.forward : own.backward)[static_cast<std::size_t>(storage)];
  }

  // What the block before left, under the name it has here: an activation that is kept is this
  // block's to keep.
  std::int32_t enter(const StepInstance& at, std::int16_t storage) {
    const std::int32_t entry = border_[{at.chunk, at.micro_batch}];
    const plan::ProgramTensor& tensor = block(at.block).tensors[static_cast<std::size_t>(storage)];
    Entry& renamed = entries()[static_cast<std::size_t>(entry)];
    renamed.key.block = to_string(block(at.block).sharded.operations.block);
    renamed.key.layer = at.layer;
    renamed.key.name = to_string(tensor.name);
    renamed.key.variant = variant_text(tensor.variant);
    renamed.category = tensor.category;
    return entry;
  }

  void write_gradient(const StepInstance& at, std::size_t parameter) {
    ParameterEntries& own = parameters(at);
    const ParameterState& held = state(at.block).parameters[parameter];
    if (motion().reduces_each_block) {
      std::int32_t& whole = own.whole_gradient[parameter];
      if (whole == kNoEntry) {
        whole = parameter_entry(at, parameter, Role::whole_gradient);
        Entry& entry = entries()[static_cast<std::size_t>(whole)];
        entry.dtype = stage_.program().recipe.block_gradient;
        entry.bytes = Bytes(held.block_gradient_bytes);
        entry.category = Category::gradient;
      }
      use(whole);
      if (at.step->phase == plan::Phase::forward) ++forwards_open_[{at.block, at.layer, parameter}];
      return;
    }
    accumulate(at, parameter);
  }

  void accumulate(const StepInstance& at, std::size_t parameter) {
    const ParameterState& held = state(at.block).parameters[parameter];
    std::int32_t& gradient = parameters(at).gradient[parameter];
    if (held.gradient.elements == 0) return;
    if (gradient == kNoEntry) {
      gradient = resident_entry(at, parameter, held.gradient);
      if (!lazy_) whole_run_.push_back(gradient);
    }
    use(gradient);
  }

  void gather(const StepInstance& at) {
    ParameterEntries& own = parameters(at);
    for (std::size_t p = 0; p < own.gathered.size(); ++p) {
      const ParameterState& held = state(at.block).parameters[p];
      if (held.gathered_bytes == 0) continue;
      own.gathered[p] = parameter_entry(at, p, Role::gathered);
      Entry& entry = entries()[static_cast<std::size_t>(own.gathered[p])];
      entry.dtype = stage_.program().recipe.gathered;
      entry.bytes = Bytes(held.gathered_bytes);
      entry.category = Category::gathered_weight;
    }
  }

  // A whole gradient that forwards of other micro-batches have added to waits for their backwards.
  void reduce(const StepInstance& at) {
    ParameterEntries& own = parameters(at);
    for (std::size_t p = 0; p < own.whole_gradient.size(); ++p) {
      use(own.whole_gradient[p]);
      const bool made_by_forward = written_in_forward(at.block, p);
      if (!made_by_forward || --forwards_open_[{at.block, at.layer, p}] == 0) {
        own.whole_gradient[p] = kNoEntry;
      }
      accumulate(at, p);
    }
  }
  [[nodiscard]] bool written_in_forward(std::int16_t block_index, std::size_t parameter) const {
    for (const plan::Step& step : block(block_index).forward) {
      if (step.writes_gradients.contains(static_cast<std::int16_t>(parameter))) return true;
    }
    return false;
  }

  std::int32_t parameter_entry(const StepInstance& at, std::size_t parameter, Role role) {
    const plan::LocalParameter& local = block(at.block).sharded.parameters[parameter];
    const std::int32_t index =
        new_entry(at, to_string(local.use.parameter.name), variant_text(local.use.variant), role);
    entries()[static_cast<std::size_t>(index)].shape = dims_of(local.shape);
    return index;
  }
  std::int32_t resident_entry(const StepInstance& at, std::size_t parameter,
                              const ResidentTensor& tensor) {
    const plan::LocalParameter& local = block(at.block).sharded.parameters[parameter];
    const std::int32_t index = parameter_entry(at, parameter, tensor.role);
    Entry& entry = entries()[static_cast<std::size_t>(index)];
    if (tensor.elements != local.elements()) entry.shape = Dims{tensor.elements};
    entry.dtype = tensor.dtype;
    entry.bytes = Bytes(tensor.bytes());
    entry.category = tensor.category;
    entry.place = tensor.place;
    entry.key.micro_batch = ledger::Key::kNone;
    return index;
  }

  // What lives for the whole step, wherever the stage has a block.
  void add_residents() {
    for (std::size_t c = 0; c < stage_.program().chunks.size(); ++c) {
      for (const plan::BlockInstance& at :
           plan::block_instances(stage_.program().chunks[c], blocks_)) {
        StepInstance place;
        place.block = at.block;
        place.layer = at.layer;
        const BlockState& held = state(at.block);
        for (std::size_t p = 0; p < held.parameters.size(); ++p) {
          for (const ResidentTensor& tensor : held.parameters[p].resident) {
            whole_run_.push_back(resident_entry(place, p, tensor));
          }
        }
      }
    }
    for (const StageTensor& tensor : stage_.input().tensors) {
      for (std::int64_t copy = 0; copy < tensor.copies; ++copy) add_stage_tensor(tensor, copy);
    }
  }

  void add_stage_tensor(const StageTensor& tensor, std::int64_t copy) {
    Entry& entry = entries().emplace_back();
    entry.key.block = "step";
    entry.key.name = tensor.name;
    entry.key.role = tensor.role;
    if (tensor.copies > 1) entry.key.layer = static_cast<std::int32_t>(copy);
    entry.shape = Dims{tensor.elements};
    entry.dtype = tensor.dtype;
    entry.bytes = Bytes(bytes_of(tensor.elements, tensor.dtype));
    entry.category = tensor.category;
    entry.place = tensor.place;
    if (tensor.at_optimizer_only) {
      entry.first_step = optimizer_steps_.front();
      entry.last_step = optimizer_steps_.back();
    } else {
      whole_run_.push_back(static_cast<std::int32_t>(entries().size() - 1));
    }
  }

  const plan::ProgramBlocks& blocks_;
  const StageModel& stage_;
  const bool lazy_;
  std::int64_t now_ = 0;
  ledger::Ledger ledger_;
  std::map<InstanceKey, Instance> instances_;
  std::map<PlaceKey, ParameterEntries> parameters_;
  std::map<BorderKey, std::int32_t> border_;  // what stands between two blocks of a chunk
  // Forwards whose whole gradients wait for their backward, by block, layer and parameter.
  std::map<std::tuple<std::int16_t, std::int32_t, std::size_t>, std::int64_t> forwards_open_;
  std::vector<std::int32_t> whole_run_;
  std::vector<std::int64_t> optimizer_steps_;
};

}  // namespace

ledger::Ledger expanded_ledger(const model::ModelConfig& config, const plan::Plan& plan,
                               const plan::Profile& profile, std::int64_t stage) {
  const plan::ProgramBlocks blocks = plan::lower_blocks(config, plan, profile);
  std::vector<BlockLifetimes> lifetimes;
  for (const plan::ProgramBlock& block : blocks.blocks) lifetimes.push_back(block_lifetimes(block));
  const StageModel model(config, blocks, lifetimes, plan, profile, stage);
  return Expander(blocks, model).run();
}

}  // namespace fourhold::predict

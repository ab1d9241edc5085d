#include "fourhold/predict/expanded_ledger.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "fourhold/ledger/timeline.h"
#include "fourhold/plan/expand.h"
#include "fourhold/plan/parameter_gradients.h"
#include "fourhold/predict/entry_names.h"
#include "fourhold/predict/expanded_entries.h"
#include "fourhold/predict/first_products.h"
#include "fourhold/predict/recent_map.h"
#include "fourhold/predict/shard_messages.h"
#include "fourhold/predict/stage_model.h"

namespace fourhold::predict {
namespace {

using ledger::Category;
using ledger::Entry;
using ledger::Role;
using plan::Direction;
using plan::StepInstance;
using plan::Work;

constexpr std::int32_t kNoEntry = ExpandedEntries::kNone;

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
  Expander(const plan::ProgramBlocks& blocks, const StageModel& stage, const plan::Profile& profile)
      : blocks_(blocks),
        stage_(stage),
        entries_(blocks),
        lead_(stage.program(), blocks),
        lazy_(stage.input().walk.gradient_lifetime == plan::GradientLifetime::backward_to_step),
        messages_(blocks, stage.program().plan, profile) {}

  ExpandedRun run() {
    entries_.reserve(most_entries(blocks_, stage_.input(), stage_.program().plan.grad_accum));
    plan::expand(stage_.program(), blocks_, [&](const StepInstance& at) {
      visit(at);
      run_.host.push_back(lead_.follow(at));
      if (host_waits(at.work)) run_.waits.push_back(entries_.now());
      entries_.next_step();
    });
    add_residents();
    for (const std::int32_t entry : whole_run_) entries_.use_throughout(entry);
    run_.optimizer_step = steps(Alive::optimizer).first;
    run_.ledger.entries = entries_.take();
    for (auto* list : {&run_.collective_tensors, &run_.gathered}) {
      std::sort(list->begin(), list->end());
    }
    run_.messages = messages_.take();
    run_.fresh_gradients = fresh_gradients_.take();
    return std::move(run_);
  }

 private:
  [[nodiscard]] const plan::ProgramBlock& block(std::int16_t index) const {
    return blocks_.blocks[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const BlockState& state(std::int16_t index) const {
    return (*stage_.input().walk.states)[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const plan::StateMotion& motion() const { return stage_.program().motion; }

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
      case Work::count_tokens:
      case Work::reduce_loss:
        mark(Alive::count_to_loss);
        break;
      case Work::gradient_norm:
      case Work::clip:
        mark(Alive::norm_to_clip);
        break;
      case Work::compute:
        compute(at);
        break;
      case Work::load_ids:
      case Work::load_targets:
        load(at);
        break;
      case Work::receive_activation:
        border_[{at.chunk, at.micro_batch}] =
            entries_.add_tensor(at, owner(at.block, block(at.block).input));
        break;
      case Work::receive_gradient:
        border_[{at.chunk, at.micro_batch}] =
            entries_.add_tensor(at, owner(at.block, block(at.block).output_gradient));
        break;
      case Work::send_activation:
      case Work::send_gradient:
        entries_.use(border_[{at.chunk, at.micro_batch}]);
        break;
      case Work::gather_weights:
        gather(at);
        break;
      case Work::release_weights:
        for (const std::int32_t entry : parameters(at).gathered) entries_.use(entry);
        messages_.release(at, entries_.now());
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
          if (at.work != Work::gather_updated) entries_.use(entry);
        }
        if (at.work == Work::optimize) mark(Alive::optimizer);
        if (at.work == Work::gather_updated) note_gathered_update(at);
        break;
      case Work::end_micro_batch:
        fresh_gradients_.end(entries_.now());
        messages_.end_micro_batch(entries_.now());
        break;
      case Work::fill_weight:  // these are of other programs (state_ledger.h, sample_ledger.h)
      case Work::zero_state:
      case Work::write_state:
      case Work::choose_token:
        break;
    }
  }

  // From the first marked step to the last.
  struct Steps {
    std::int64_t first = -1;
    std::int64_t last = -1;
  };
  [[nodiscard]] Steps& steps(Alive alive) { return steps_[static_cast<std::size_t>(alive)]; }
  void mark(Alive alive) {
    Steps& own = steps(alive);
    if (own.first < 0) own.first = entries_.now();
    own.last = entries_.now();
  }

  void load(const StepInstance& at) {
    const plan::ProgramBlock& own = block(at.block);
    for (std::size_t i = 0; i < own.tensors.size(); ++i) {
      if (own.tensors[i].category != Category::input) continue;
      instance(at).forward[i] = entries_.add_tensor(at, static_cast<std::int16_t>(i));
    }
  }

  void compute(const StepInstance& at) {
    const plan::ProgramBlock& own = block(at.block);
    const bool forward = at.step->phase == plan::Phase::forward;
    products_.note(own, at, entries_.now());
    const std::vector<plan::Step>& steps = forward ? own.forward : own.backward;
    if (at.step == &steps.front()) messages_.begin(at, entries_.now());
    for (const plan::Access& access : at.step->accesses) {
      const std::int16_t storage = owner(at.block, access.tensor);
      std::int32_t& entry = slot(at, storage, forward);
      if (entry == kNoEntry) {
        const bool enters = forward ? storage == owner(at.block, own.input)
                                    : storage == owner(at.block, own.output_gradient);
        entry = enters ? enter(at, storage) : entries_.add_tensor(at, storage);
      }
      entries_.use(entry);
      if (travels(at.step->collective, access)) run_.collective_tensors.push_back(entry);
      if (gathers(at.step->collective, access)) run_.gathered.push_back(entry);
    }
    for (const std::int16_t parameter : at.step->writes_gradients) {
      write_gradient(at, static_cast<std::size_t>(parameter));
    }
    if (at.step != &steps.back()) return;
    const std::int16_t leaving = owner(at.block, forward ? own.output : own.input_gradient);
    if (leaving >= 0) {
      const std::int32_t entry = slot(at, leaving, forward);
      if (entry != kNoEntry) border_[{at.chunk, at.micro_batch}] = entry;
      entries_.use(entry);
    }
  }

  void note_gathered_update(const StepInstance& at) {
    Extra& gathered = run_.gathered_updates;
    if (gathered.bytes == 0) gathered.first_step = entries_.now();
    gathered.last_step = entries_.now();
    for (std::size_t p = 0; p < state(at.block).parameters.size(); ++p) {
      const ParameterState& held = state(at.block).parameters[p];
      if (held.elsewhere || held.owned_elements == 0) continue;
      gathered.bytes += bytes_of(block(at.block).sharded.parameters[p].elements(),
                                 stage_.program().recipe.weight);
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
    entries_.rename(entry, at, storage);
    return entry;
  }

  void write_gradient(const StepInstance& at, std::size_t parameter) {
    ParameterEntries& own = parameters(at);
    const ParameterState& held = state(at.block).parameters[parameter];
    if (motion().reduces_each_block) {
      std::int32_t& whole = own.whole_gradient[parameter];
      if (whole == kNoEntry) {
        whole = entries_.add_parameter(at, parameter, Role::whole_gradient);
        Entry& entry = entries_.at(whole);
        entry.dtype = held.block_gradient_dtype;
        entry.bytes = Bytes(held.block_gradient_bytes);
        entry.category = Category::gradient;
      }
      entries_.use(whole);
      if (at.step->phase == plan::Phase::forward) ++forwards_open_[{at.block, at.layer, parameter}];
      return;
    }
    // A framework without fused accumulation makes each gradient anew and adds it up afterwards.
    if (held.gradient.elements > 0) {
      const std::int64_t elements = block(at.block).sharded.parameters[parameter].elements();
      fresh_gradients_.begin(bytes_of(elements, stage_.program().recipe.gathered), entries_.now());
    }
    accumulate(at, parameter);
  }

  void accumulate(const StepInstance& at, std::size_t parameter) {
    const ParameterState& held = state(at.block).parameters[parameter];
    std::int32_t& gradient = parameters(at).gradient[parameter];
    if (held.gradient.elements == 0) return;
    if (gradient == kNoEntry) {
      gradient = entries_.add_resident(at, parameter, held.gradient);
      if (motion().reduces_each_block) messages_.gradient(gradient);
      if (!lazy_) whole_run_.push_back(gradient);
    }
    entries_.use(gradient);
  }

  void gather(const StepInstance& at) {
    ParameterEntries& own = parameters(at);
    for (std::size_t p = 0; p < own.gathered.size(); ++p) {
      const ParameterState& held = state(at.block).parameters[p];
      if (held.gathered_bytes == 0) continue;
      own.gathered[p] = entries_.add_parameter(at, p, Role::gathered);
      Entry& entry = entries_.at(own.gathered[p]);
      entry.dtype = held.gathered_dtype;
      entry.bytes = Bytes(held.gathered_bytes);
      entry.category = Category::gathered_weight;
    }
    messages_.gather(at, own.gathered, state(at.block).gathered_bytes, entries_.now());
  }

  // A whole gradient that forwards of other micro-batches have added to waits for their backwards.
  void reduce(const StepInstance& at) {
    ParameterEntries& own = parameters(at);
    messages_.reduce(at, entries_.now());
    for (std::size_t p = 0; p < own.whole_gradient.size(); ++p) {
      entries_.use(own.whole_gradient[p]);
      const bool made_by_forward = plan::written_in_forward(block(at.block), p);
      if (!made_by_forward || --forwards_open_[{at.block, at.layer, p}] == 0) {
        own.whole_gradient[p] = kNoEntry;
      }
      accumulate(at, p);
    }
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
            whole_run_.push_back(entries_.add_resident(place, p, tensor));
          }
        }
      }
    }
    for (const StageTensor& tensor : stage_.input().tensors) {
      for (std::int64_t copy = 0; copy < tensor.copies; ++copy) add_stage_tensor(tensor, copy);
    }
  }

  void add_stage_tensor(const StageTensor& tensor, std::int64_t copy) {
    const std::int32_t entry = entries_.add_stage_tensor(tensor, copy);
    if (tensor.name == kProductWorkspace) run_.workspaces.push_back({entry, products_.of(copy)});
    if (tensor.alive == Alive::whole_step) {
      whole_run_.push_back(entry);
    } else {
      entries_.at(entry).first_step = steps(tensor.alive).first;
      entries_.at(entry).last_step = steps(tensor.alive).last;
    }
  }

  const plan::ProgramBlocks& blocks_;
  const StageModel& stage_;
  ExpandedEntries entries_;
  HostLead lead_;
  const bool lazy_;
  RecentMap<InstanceKey, Instance> instances_;
  RecentMap<PlaceKey, ParameterEntries> parameters_;
  RecentMap<BorderKey, std::int32_t> border_;  // what stands between two blocks of a chunk
  // Forwards whose whole gradients wait for their backward, by block, layer and parameter.
  std::map<std::tuple<std::int16_t, std::int32_t, std::size_t>, std::int64_t> forwards_open_;
  std::vector<std::int32_t> whole_run_;
  std::array<Steps, kAliveCount> steps_;
  FirstProducts products_;
  ShardMessageNotes messages_;
  ExpandedRun run_;
  FreshGradients fresh_gradients_;
};

}  // namespace

ExpandedRun expanded_run(const model::ModelConfig& config, const plan::Plan& plan,
                         const plan::Profile& profile, std::int64_t stage) {
  const plan::ProgramBlocks blocks = plan::lower_blocks(config, plan, profile);
  std::vector<BlockLifetimes> lifetimes;
  for (const plan::ProgramBlock& block : blocks.blocks) lifetimes.push_back(block_lifetimes(block));
  const StageModel model(config, blocks, lifetimes, plan, profile, stage);
  return Expander(blocks, model, profile).run();
}

ledger::Ledger expanded_ledger(const model::ModelConfig& config, const plan::Plan& plan,
                               const plan::Profile& profile, std::int64_t stage) {
  ledger::Ledger ledger = std::move(expanded_run(config, plan, profile, stage).ledger);
  ledger::mark_peak(ledger);
  return ledger;
}

}  // namespace fourhold::predict

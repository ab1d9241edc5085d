#include "fourhold/plan/recompute.h"

#include <algorithm>
#include <cstddef>

namespace fourhold::plan {
namespace {

using model::BlockOperations;
using model::Operation;
using model::OpKind;
using model::TensorId;

// One pass over a block: which storages are wanted in backward, who makes them, who makes them
// again.
class Decision {
 public:
  Decision(const ShardedBlock& sharded, const RecomputePolicy& policy)
      : block_(sharded.operations),
        sharded_(sharded),
        policy_(policy),
        producer_(block_.tensors.size(), -1),
        wanted_(block_.tensors.size(), 0),
        remade_(block_.operations.size(), 0) {
    for (std::size_t i = 0; i < block_.operations.size(); ++i) {
      for (const TensorId out : block_.operations[i].outputs) {
        // Of in-place results the first writer makes the storage; nobody here makes the input's.
        if (root(out) == root(block_.input)) continue;
        std::int16_t& producer = producer_[root(out)];
        if (producer < 0) producer = static_cast<std::int16_t>(i);
      }
    }
  }

  RecomputeDecision run() {
    for (const Operation& op : block_.operations) {
      for (const TensorId id : op.saved) want(id);
    }
    return {kept(), segments()};
  }

 private:
  [[nodiscard]] std::size_t root(TensorId id) const {
    return static_cast<std::size_t>(model::storage_of(block_, id));
  }

  // May this operation's outputs be dropped in forward?
  [[nodiscard]] bool may_remake(std::size_t index) const {
    const Operation& op = block_.operations[index];
    const bool gathers = sharded_.collectives[index].kind == Collective::all_gather;
    if (gathers && op.gathered == model::Gathered::again) return true;
    if (policy_.remakes_layers()) return op.of_layer;
    return dropped_group(op) != model::RecomputeGroup::none;
  }
  // The group by which a selective policy drops an operation's outputs.
  [[nodiscard]] model::RecomputeGroup dropped_group(const Operation& op) const {
    if (policy_.drops(op.recompute)) return op.recompute;
    return policy_.drops(op.branch) ? op.branch : model::RecomputeGroup::none;
  }

  // The attention core hands its result on: it stays for the output projection, as the checkpointed
  // function's output does (Korthikanti 2022, sec. 5). Norms and activations drop their results.
  [[nodiscard]] bool stays(std::size_t storage, std::size_t producer) const {
    if (policy_.remakes_layers()) return is_saved(storage) || leaves_layer(storage, producer);
    if (policy_.kind != RecomputeKind::selective) return false;
    if (block_.operations[producer].recompute != model::RecomputeGroup::attention) return false;
    for (const Operation& op : block_.operations) {
      if (op.recompute == model::RecomputeGroup::attention) continue;
      for (const TensorId id : op.saved) {
        if (root(id) == storage) return true;
      }
    }
    return false;
  }

  // Of the tensors that a policy by names saves. Attention is known by what it reads and makes.
  [[nodiscard]] bool is_saved(std::size_t storage) const {
    for (std::size_t i = 0; i < block_.tensors.size(); ++i) {
      if (root(static_cast<TensorId>(i)) != storage) continue;
      switch (block_.tensors[i].name) {
        case model::TensorName::gate:
        case model::TensorName::up:
        case model::TensorName::expert_gate:
        case model::TensorName::expert_up:
          return policy_.saves(SavedGroup::mlpwi);
        case model::TensorName::down_out:
        case model::TensorName::expert_out:
          return policy_.saves(SavedGroup::mlpwo);
        case model::TensorName::o_out:
          return policy_.saves(SavedGroup::out);
        default:
          break;
      }
    }
    for (const Operation& op : block_.operations) {
      const bool reads = op.kind == OpKind::attention || op.kind == OpKind::attention_scores;
      if (reads && is_among(op.inputs, storage)) return policy_.saves(SavedGroup::qkv);
      if (op.kind == OpKind::attention_values && root(op.inputs[1]) == storage) {
        return policy_.saves(SavedGroup::qkv);
      }
      const bool makes = op.kind == OpKind::attention || op.kind == OpKind::attention_values;
      if (makes && is_among(op.outputs, storage)) return policy_.saves(SavedGroup::context);
    }
    return false;
  }
  // What a layer hands to operations that are not of it stays, as any checkpointed result.
  [[nodiscard]] bool leaves_layer(std::size_t storage, std::size_t producer) const {
    return block_.operations[producer].of_layer &&
           std::any_of(
               block_.operations.begin(), block_.operations.end(),
               [&](const Operation& op) { return !op.of_layer && is_among(op.inputs, storage); });
  }
  [[nodiscard]] bool is_among(const InlineVector<TensorId, 4>& tensors, std::size_t storage) const {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](TensorId id) { return root(id) == storage; });
  }

  void want(TensorId id) {
    const std::size_t storage = root(id);
    if (wanted_[storage] != 0) return;
    wanted_[storage] = 1;
    const std::int16_t producer = producer_[storage];
    if (producer < 0) return;
    const auto index = static_cast<std::size_t>(producer);
    if (!may_remake(index) || stays(storage, index)) return;
    remake(index);
    // What is made in place of this storage is part of it, whatever group it is of.
    for (std::size_t i = index + 1; i < block_.operations.size(); ++i) {
      for (const TensorId out : block_.operations[i].outputs) {
        if (root(out) == storage) remake(i);
      }
    }
  }

  void remake(std::size_t index) {
    if (remade_[index] != 0) return;
    remade_[index] = 1;
    for (const TensorId in : block_.operations[index].inputs) want(in);
  }

  [[nodiscard]] std::vector<std::uint8_t> kept() const {
    std::vector<std::uint8_t> kept(block_.tensors.size(), 0);
    for (std::size_t storage = 0; storage < wanted_.size(); ++storage) {
      if (wanted_[storage] == 0) continue;
      const std::int16_t producer = producer_[storage];
      const bool again = producer >= 0 && remade_[static_cast<std::size_t>(producer)] != 0 &&
                         !stays(storage, static_cast<std::size_t>(producer));
      kept[storage] = again ? 0 : 1;
    }
    return kept;
  }

  [[nodiscard]] std::vector<std::int16_t> segments() const {
    std::vector<std::int16_t> segments(block_.operations.size(), kNotRemade);
    const bool whole = policy_.remakes_layers();
    std::int16_t next = whole ? 1 : 0;  // 0 is the layer, where it is made again as a whole
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (remade_[i] == 0) continue;
      const std::size_t maker = first_maker(i);
      const bool joins =
          i > 0 && segments[i - 1] != kNotRemade &&
          dropped_group(block_.operations[i]) != model::RecomputeGroup::none &&
          dropped_group(block_.operations[i]) == dropped_group(block_.operations[i - 1]);
      if (whole && block_.operations[i].of_layer) {
        segments[i] = 0;
      } else if (maker < i) {
        segments[i] = segments[maker];
      } else {
        segments[i] = joins ? segments[i - 1] : next++;
      }
    }
    return segments;
  }

  // The operation that first makes the storage this one writes: itself, unless it works in place.
  [[nodiscard]] std::size_t first_maker(std::size_t index) const {
    std::size_t first = index;
    for (const TensorId out : block_.operations[index].outputs) {
      first = std::min(first, static_cast<std::size_t>(producer_[root(out)]));
    }
    return first;
  }

  const BlockOperations& block_;
  const ShardedBlock& sharded_;
  const RecomputePolicy& policy_;
  std::vector<std::int16_t> producer_;  // per storage
  std::vector<std::uint8_t> wanted_;    // per storage
  std::vector<std::uint8_t> remade_;    // per operation
};

}  // namespace

RecomputeDecision decide_recompute(const ShardedBlock& block, const RecomputePolicy& policy) {
  return Decision(block, policy).run();
}

}  // namespace fourhold::plan

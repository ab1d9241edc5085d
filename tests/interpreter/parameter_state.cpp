#include "tests/interpreter/parameter_state.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/interpreter/fault.h"

namespace fourhold::interpreter {
namespace {

using plan::Axis;
using plan::BlockInstance;

constexpr double kMaxNorm = 0.25;  // small, so that clipping is at work
constexpr double kLearningRate = 0.5;

Array as_array(const std::vector<double>& flat) {
  Array array;
  array.dims = {static_cast<std::int64_t>(flat.size())};
  array.data = flat;
  return array;
}

std::int64_t kv_heads_of(const plan::LocalParameter& parameter) {
  for (const model::Extent& extent : parameter.use.parameter.shape) {
    if (extent.dim == model::Dim::kv_heads) return extent.size;
  }
  return 1;
}

// Works for a map and for a const map.
template <class Map>
auto& stored(Map& map, const ParameterKey& key) {
  const auto found = map.find(key);
  if (found == map.end()) throw ProgramFault("nothing is stored for " + to_string(key));
  return found->second;
}

}  // namespace

ParameterState::ParameterState(const Setting& setting, const plan::ProgramBlocks& blocks,
                               const plan::Program& program, std::int64_t rank, Door& door,
                               const ParameterValues& values)
    : setting_(setting), blocks_(blocks), motion_(program.motion), rank_(rank), door_(door) {
  std::set<ParameterKey> owned;
  for (const plan::Chunk& chunk : program.chunks) {
    for (const BlockInstance& at : plan::block_instances(chunk, blocks)) {
      const plan::ShardedBlock& block = blocks.blocks[static_cast<std::size_t>(at.block)].sharded;
      std::vector<Slot>& list = slots_[{at.block, at.layer}];
      for (const plan::LocalParameter& parameter : block.parameters) {
        Slot slot;
        slot.key = key_of(block.operations.block, at.layer, parameter.use);
        slot.parameter = &parameter;
        slot.elements = local_elements(setting.plan, rank, parameter);
        slot.sharding = plan::group_of(
            setting.plan, parameter.expert ? Axis::expert_sharding : Axis::sharding, rank, 1);
        slot.owned = owned.insert(slot.key).second;
        if (slot.owned) {
          const Flat& whole = values.at(slot.key);
          Flat local;
          local.reserve(slot.elements.size());
          for (const std::int64_t element : slot.elements) {
            local.push_back(element == kPadding ? 0.0 : whole[static_cast<std::size_t>(element)]);
          }
          const Range own = own_piece(slot);
          const auto begin = local.begin() + static_cast<std::ptrdiff_t>(own.begin);
          const auto end = local.begin() + static_cast<std::ptrdiff_t>(own.end);
          if (slot.trained()) master_store().masters[slot.key] = Flat(begin, end);
          weight_store().weights[slot.key] = setting.plan.zero == 3 ? Flat(begin, end) : local;
        }
        list.push_back(std::move(slot));
      }
    }
  }
}

ParameterState::Store& ParameterState::weight_store() {
  return setting_.plan.offload == plan::Offload::all ? host_ : device_;
}
ParameterState::Store& ParameterState::gradient_store() {
  return setting_.plan.offload >= plan::Offload::optimizer_gradients ? host_ : device_;
}
ParameterState::Store& ParameterState::master_store() {
  return setting_.plan.offload >= plan::Offload::optimizer ? host_ : device_;
}

ParameterState::Range ParameterState::piece_of(const Slot& slot, std::size_t member) const {
  const std::size_t size = slot.elements.size();
  if (!sharded()) return {0, size};
  const std::size_t members = slot.sharding.size();
  const std::size_t piece = (size + members - 1) / members;
  return {std::min(size, member * piece), std::min(size, (member + 1) * piece)};
}

ParameterState::Range ParameterState::own_piece(const Slot& slot) const {
  return piece_of(slot, static_cast<std::size_t>(place_in(slot.sharding, rank_)));
}

ParameterState::Flat ParameterState::sum_over(const Group& group, const Slot& slot,
                                              const Flat& own) {
  Array total(Dims{static_cast<std::int64_t>(own.size())});
  for (const Payload& payload :
       door_.meet(group, "sum of " + to_string(slot.key), {as_array(own)})) {
    add_to(total, payload[0]);
  }
  return total.data;
}

ParameterState::Flat ParameterState::reduced(const Slot& slot, const Flat& whole) {
  const Flat sum = sum_over(slot.sharding, slot, whole);
  const Range own = own_piece(slot);
  return {sum.begin() + static_cast<std::ptrdiff_t>(own.begin),
          sum.begin() + static_cast<std::ptrdiff_t>(own.end)};
}

ParameterState::Flat ParameterState::gathered(const Slot& slot, const Flat& piece) {
  Flat whole;
  for (const Payload& payload :
       door_.meet(slot.sharding, "pieces of " + to_string(slot.key), {as_array(piece)})) {
    whole.insert(whole.end(), payload[0].data.begin(), payload[0].data.end());
  }
  if (whole.size() != slot.elements.size()) {
    throw ProgramFault("the pieces of " + to_string(slot.key) + " do not make the whole");
  }
  return whole;
}

const ParameterState::Flat& ParameterState::weight(const BlockInstance& at,
                                                   std::int16_t parameter) const {
  const auto index = static_cast<std::size_t>(parameter);
  if (!motion_.gathers_blocks) return device_.weights.at(slots(at)[index].key);
  const auto found = gathered_.find({at.block, at.layer});
  if (found == gathered_.end()) {
    throw ProgramFault(to_string(slots(at)[index].key) + " is used, but not gathered");
  }
  return found->second[index];
}

void ParameterState::add_gradient(const BlockInstance& at, std::int16_t parameter,
                                  const Flat& gradient) {
  const Slot& slot = slots(at)[static_cast<std::size_t>(parameter)];
  if (gradient.size() != slot.elements.size()) {
    throw ProgramFault("the gradient of " + to_string(slot.key) + " has another size");
  }
  Flat& sum = motion_.reduces_each_block ? of_block_[{at.block, at.layer}][parameter]
                                         : gradient_store().gradients[slot.key];
  if (sum.empty()) sum.assign(gradient.size(), 0.0);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
}

void ParameterState::gather_weights(const BlockInstance& at) {
  if (gathered_.count({at.block, at.layer}) != 0) throw ProgramFault("a block is gathered twice");
  std::vector<Flat> whole;
  for (const Slot& slot : slots(at)) {
    const Flat& weight = stored(weight_store().weights, slot.key);
    whole.push_back(setting_.plan.zero == 3 ? gathered(slot, weight) : weight);
  }
  gathered_[{at.block, at.layer}] = std::move(whole);
}

void ParameterState::release_weights(const BlockInstance& at) {
  if (gathered_.erase({at.block, at.layer}) == 0) {
    throw ProgramFault("a block is released that was not gathered");
  }
}

// A micro-batch may have made no gradient of its own: a chunked loss makes those of its head in
// forward, and whichever backward comes first hands them all on.
void ParameterState::reduce_gradients(const BlockInstance& at) {
  std::map<std::int16_t, Flat>& own = of_block_[{at.block, at.layer}];
  std::vector<std::pair<const Slot*, Flat>> sums;
  for (std::size_t i = 0; i < slots(at).size(); ++i) {
    const Slot& slot = slots(at)[i];
    if (!slot.trained()) continue;
    const auto found = own.find(static_cast<std::int16_t>(i));
    const Flat none(slot.elements.size(), 0.0);
    sums.emplace_back(&slot, reduced(slot, found == own.end() ? none : found->second));
  }
  for (const auto& [slot, sum] : sums) {
    Flat& total = gradient_store().gradients[slot->key];
    if (total.empty()) total.assign(sum.size(), 0.0);
    for (std::size_t i = 0; i < sum.size(); ++i) total[i] += sum[i];
  }
  of_block_.erase({at.block, at.layer});
}

void ParameterState::sum_replicas(const BlockInstance& at) {
  std::map<ParameterKey, Flat> sums;
  for (const Slot& slot : slots(at)) {
    if (!slot.trained() || !slot.parameter->gradient_sum.has_value()) continue;
    const Group group = plan::group_of(setting_.plan, *slot.parameter->gradient_sum, rank_,
                                       kv_heads_of(*slot.parameter));
    sums[slot.key] = sum_over(group, slot, stored(gradient_store().gradients, slot.key));
  }
  for (auto& [key, sum] : sums) gradient_store().gradients[key] = std::move(sum);
}

// The embedding block on the first stage and the head on the last each hold the table.
void ParameterState::sum_tied(const BlockInstance& at) {
  const Group group = plan::group_of(setting_.plan, Axis::embedding, rank_, 1);
  if (!setting_.config.tied || group.size() == 1) return;
  for (const Slot& slot : slots(at)) {
    if (slot.key.name != model::TensorName::token_embedding || !slot.trained()) continue;
    Flat& gradient = stored(gradient_store().gradients, slot.key);
    gradient = sum_over(group, slot, gradient);
  }
}

void ParameterState::reduce_all(const BlockInstance& at) {
  std::map<ParameterKey, Flat> sums;
  for (const Slot& slot : slots(at)) {
    if (!slot.trained() || !slot.owned) continue;
    sums[slot.key] = reduced(slot, stored(gradient_store().gradients, slot.key));
  }
  for (auto& [key, sum] : sums) gradient_store().gradients[key] = std::move(sum);
}

// Each element of the model counts on one rank: not on the other replicas of it.
bool ParameterState::counts_in_norm(const Slot& slot) const {
  const plan::Plan& plan = setting_.plan;
  if (!slot.owned || !slot.trained()) return false;
  if (!sharded() && place_in(slot.sharding, rank_) != 0) return false;
  const std::int64_t stage = plan::coordinates(plan, rank_).pp;
  if (slot.key.block == model::Block::embedding && stage != 0) return false;
  // The first rank of those in tp that hold the same elements.
  for (const std::int64_t other : plan::group_of(plan, Axis::tp, rank_, 1)) {
    if (other >= rank_) break;
    if (local_elements(plan, other, *slot.parameter) == slot.elements) return false;
  }
  return true;
}

void ParameterState::gradient_norm() {
  double sum = 0;
  const Store& store = gradient_store();
  for (const auto& [instance, list] : slots_) {
    for (const Slot& slot : list) {
      if (!counts_in_norm(slot)) continue;
      for (const double g : stored(store.gradients, slot.key)) sum += g * g;
    }
  }
  const Group world = plan::group_of(setting_.plan, Axis::world, rank_, 1);
  double total = 0;
  for (const Payload& payload : door_.meet(world, "gradient_norm", {as_array({sum})})) {
    total += payload[0].data[0];
  }
  norm_ = std::sqrt(total);
  before_clip_ = store.gradients;
}

void ParameterState::clip() {
  factor_ = std::min(1.0, kMaxNorm / norm_);
  for (auto& [key, gradient] : gradient_store().gradients) {
    for (double& g : gradient) g *= factor_;
  }
}

void ParameterState::optimize(const BlockInstance& at) {
  for (const Slot& slot : slots(at)) {
    if (!slot.trained() || !slot.owned) continue;
    Flat& master = stored(master_store().masters, slot.key);
    const Flat& gradient = stored(gradient_store().gradients, slot.key);
    if (gradient.size() != master.size()) {
      throw ProgramFault("the gradient of " + to_string(slot.key) + " was not reduced");
    }
    for (std::size_t i = 0; i < master.size(); ++i) master[i] -= kLearningRate * gradient[i];
    Flat& weight = stored(weight_store().weights, slot.key);
    const std::size_t first = setting_.plan.zero == 3 ? 0 : own_piece(slot).begin;
    std::copy(master.begin(), master.end(), weight.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void ParameterState::gather_updated(const BlockInstance& at) {
  std::map<ParameterKey, Flat> whole;
  for (const Slot& slot : slots(at)) {
    if (!slot.trained() || !slot.owned) continue;
    const Range own = own_piece(slot);
    const Flat& weight = stored(weight_store().weights, slot.key);
    whole[slot.key] = gathered(slot, {weight.begin() + static_cast<std::ptrdiff_t>(own.begin),
                                      weight.begin() + static_cast<std::ptrdiff_t>(own.end)});
  }
  for (auto& [key, weight] : whole) weight_store().weights[key] = std::move(weight);
}

void ParameterState::check_at_rest() const {
  if (!gathered_.empty()) throw ProgramFault("a block's weights are still gathered at the end");
  for (const auto& [instance, gradients] : of_block_) {
    if (!gradients.empty()) throw ProgramFault("a block's gradient was never reduced");
  }
}

std::vector<ParameterState::Piece> ParameterState::gradients() const {
  std::vector<Piece> pieces;
  for (const auto& [instance, list] : slots_) {
    for (const Slot& slot : list) {
      if (!slot.trained()) continue;
      const Range own = own_piece(slot);
      pieces.push_back({slot.key,
                        {slot.elements.begin() + static_cast<std::ptrdiff_t>(own.begin),
                         slot.elements.begin() + static_cast<std::ptrdiff_t>(own.end)},
                        stored(before_clip_, slot.key)});
    }
  }
  return pieces;
}

std::vector<ParameterState::Piece> ParameterState::weights() const {
  std::vector<Piece> pieces;
  const Store& store = setting_.plan.offload == plan::Offload::all ? host_ : device_;
  for (const auto& [instance, list] : slots_) {
    for (const Slot& slot : list) {
      const Range own = setting_.plan.zero == 3 ? own_piece(slot) : Range{0, slot.elements.size()};
      pieces.push_back({slot.key,
                        {slot.elements.begin() + static_cast<std::ptrdiff_t>(own.begin),
                         slot.elements.begin() + static_cast<std::ptrdiff_t>(own.end)},
                        stored(store.weights, slot.key)});
    }
  }
  return pieces;
}

}  // namespace fourhold::interpreter

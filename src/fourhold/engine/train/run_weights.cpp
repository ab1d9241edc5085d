#include "fourhold/engine/train/run_weights.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/initial_weights.h"
#include "fourhold/engine/optimizer/update.h"
#include "fourhold/engine/threads/parallel.h"
#include "fourhold/predict/state_pieces.h"

namespace fourhold::engine {
namespace {

// Elements made or read at a time: the piece that the start program's ledger states.
constexpr std::int64_t kPieceElements =
    predict::kMostPieceBytes / static_cast<std::int64_t>(sizeof(float));

// Elements [begin, begin + count) of a tensor, which may have none.
Tensor piece_of(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  if (tensor.data == nullptr) return {};
  return {tensor.data + bytes_of(begin, tensor.dtype), tensor.dtype, Dims{count}};
}

// From element `begin` on: moments a run starts with, and padding behind a part.
void zero(const Tensor& tensor, std::int64_t begin = 0) {
  if (tensor.data == nullptr || begin == tensor.elements()) return;
  std::memset(tensor.data + bytes_of(begin, tensor.dtype), 0,
              static_cast<std::size_t>(bytes_of(tensor.elements() - begin, tensor.dtype)));
}

void zero_padding(const ParameterTensors& parameter) {
  zero(parameter.held_weight, parameter.held.elements());
  for (const Tensor* state : {&parameter.master, &parameter.moment1, &parameter.moment2}) {
    zero(*state, parameter.owned.elements());
  }
}

// Where the next piece of what is held ends: it lies wholly within what is owned, or outside.
std::int64_t end_of_piece(const ParameterTensors& parameter, std::int64_t begin) {
  std::int64_t end = std::min(begin + kPieceElements, parameter.held.end);
  for (const std::int64_t border : {parameter.owned.begin, parameter.owned.end}) {
    if (begin < border) end = std::min(end, border);
  }
  return end;
}

// Fills weight and master of every parameter piece by piece; `make(parameter, part, values)`. Of
// what the rank holds and does not update there is no master.
template <class Make>
void fill(Parameters parameters, plan::Precision precision, const Make& make) {
  std::vector<float> values;
  for (const ParameterTensors& parameter : parameters) {
    const plan::ParameterPart& held = parameter.held;
    const plan::ParameterPart& owned = parameter.owned;
    assert(owned.elements() == 0 || (held.begin <= owned.begin && owned.end <= held.end));
    for (std::int64_t begin = held.begin, end = 0; begin < held.end; begin = end) {
      end = end_of_piece(parameter, begin);
      const std::int64_t count = end - begin;
      const plan::ParameterPart part = plan::cut(held, {begin, end});
      values.resize(static_cast<std::size_t>(count));
      make(parameter, part, values.data());
      ParameterShard shard{.name = parameter.name,
                           .part = part,
                           .weight = piece_of(parameter.held_weight, begin - held.begin, count),
                           .gradient = {},
                           .master = {},
                           .moment1 = {},
                           .moment2 = {}};
      if (owned.begin <= begin && end <= owned.end) {
        shard.master = piece_of(parameter.master, begin - owned.begin, count);
      }
      const std::int64_t lost = set_weights(shard, values.data(), precision);
      if (lost > 0) {
        throw Error(
            parameter.name,
            std::to_string(lost) + " weights are not finite in the type they are trained in",
            "check the file; training cannot start from it");
      }
    }
    zero(parameter.moment1);
    zero(parameter.moment2);
    zero_padding(parameter);
  }
}

// What is kept beside the weights of elements that the rank updates: one tensor for each slice.
void add_state(const ParameterTensors& parameter, std::vector<StateTensor>& state) {
  const std::vector<Slice> slices = plan::slices_of(parameter.owned);
  const auto add = [&](const char* kind, const Tensor& tensor) {
    if (tensor.data == nullptr) return;
    std::int64_t at = 0;
    for (const Slice& slice : slices) {
      const std::int64_t count = slice.elements();
      state.push_back(
          {kind, parameter.id, parameter.owned.shape, slice, piece_of(tensor, at, count)});
      at += count;
    }
  };
  add("master", parameter.master);
  add("moment1", parameter.moment1);
  add("moment2", parameter.moment2);
}

// What this rank saves.
std::vector<StateTensor> saved_state(Parameters parameters) {
  std::vector<StateTensor> state;
  for (const ParameterTensors& parameter : parameters) {
    if (parameter.first_copy) add_state(parameter, state);
  }
  return state;
}
std::vector<OwnedWeight> saved_weights(Parameters parameters) {
  std::vector<OwnedWeight> weights;
  for (const ParameterTensors& parameter : parameters) {
    if (!parameter.first_copy || parameter.owned.elements() == 0) continue;
    weights.push_back({parameter.id, parameter.owned, parameter.weight});
  }
  return weights;
}

// A rank that is alone writes the model's files from front to back.
void write_alone(CheckpointSave& save, Parameters parameters, const CheckpointFacts& facts,
                 const WeightsFormat& format) {
  std::unordered_map<std::string, const ParameterTensors*> by_name;
  for (const ParameterTensors& parameter : parameters) by_name[parameter.name] = &parameter;
  save.write_model(facts.config, format,
                   [&](const model::PublishedPart& part, const Window& window, std::byte* out) {
                     copy_window(by_name.at(to_string(part.id))->weight, part.size, window,
                                 facts.weights, out);
                   });
}

}  // namespace

void start_random(Parameters parameters, const model::ModelConfig& config,
                  const RandomStart& start) {
  const Initialisation initialisation{start.seed, start.deviation};
  fill(parameters, start.precision,
       [&](const ParameterTensors& parameter, const plan::ParameterPart& part, float* values) {
         const auto make = [&](std::int64_t from, std::int64_t to) {
           fill_initial(config, parameter.id, initialisation,
                        plan::cut(part, {part.begin + from, part.begin + to}), DType::fp32,
                        reinterpret_cast<std::byte*>(values + from));
         };
         make(0, 0);  // throws where the others would
         parallel_for(part.elements(), start.threads,
                      [&](const Share& share) { make(share.begin, share.end); });
       });
}

void start_published(Parameters parameters, const PublishedWeights& weights,
                     plan::Precision precision) {
  fill(parameters, precision,
       [&](const ParameterTensors& parameter, const plan::ParameterPart& part, float* values) {
         weights.read(parameter.id, plan::slices_of(part), DType::fp32,
                      reinterpret_cast<std::byte*>(values));
       });
}

void start_checkpoint(Parameters parameters, const PublishedWeights& weights,
                      const StateFiles& state) {
  std::vector<StateTensor> own;
  for (const ParameterTensors& parameter : parameters) {
    const Tensor& weight = parameter.held_weight;
    weights.read(parameter.id, plan::slices_of(parameter.held), weight.dtype, weight.data);
    add_state(parameter, own);
    zero_padding(parameter);
  }
  for (const StateTensor& tensor : own) {
    state.read(tensor.kind, tensor.parameter, tensor.shape, tensor.slice, tensor.data);
  }
}

std::string save_checkpoint(const SaveTarget& target, std::int64_t step, Parameters parameters,
                            const CheckpointFacts& facts) {
  const WeightsFormat format{
      .dtype = facts.weights, .max_shard_bytes = facts.max_shard_bytes, .carried = facts.carried};
  const bool alone = target.who.ranks == 1;
  std::optional<CheckpointSave> save;
  const auto begin = [&] {
    save.emplace(target.folder, step, target.who);
    if (!alone) save->lay_out_model(facts.config, format);
  };
  if (target.who.rank == 0) begin();
  target.barrier();
  if (target.who.rank != 0) begin();
  if (alone) {
    write_alone(*save, parameters, facts, format);
  } else {
    save->write_weights(saved_weights(parameters));
  }
  if (target.who.rank == 0) save->write_run(facts.run);
  save->write_optimizer(saved_state(parameters));
  target.barrier();  // what is summed has been written by all
  if (!alone) save->sum_weights();
  save->close();
  target.barrier();
  if (target.who.rank == 0) save->publish(target.keep, target.damaged);
  target.barrier();  // no rank goes on before the checkpoint is complete
  return save->path();
}

}  // namespace fourhold::engine

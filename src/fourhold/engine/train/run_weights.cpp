#include "fourhold/engine/train/run_weights.h"

#include <algorithm>
#include <cstring>
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

Tensor slice_of(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  if (tensor.data == nullptr) return {};
  return {tensor.data + bytes_of(begin, tensor.dtype), tensor.dtype, Dims{count}};
}

void zero(const Tensor& tensor) {
  if (tensor.data == nullptr) return;
  std::memset(tensor.data, 0, static_cast<std::size_t>(tensor.bytes()));
}

// Fills weight and master of every parameter piece by piece; `make(parameter, begin, end, values)`.
template <class Make>
void fill(Parameters parameters, plan::Precision precision, const Make& make) {
  std::vector<float> values;
  for (const ParameterTensors& parameter : parameters) {
    const std::int64_t elements = parameter.weight.elements();
    for (std::int64_t begin = 0; begin < elements; begin += kPieceElements) {
      const std::int64_t count = std::min(kPieceElements, elements - begin);
      values.resize(static_cast<std::size_t>(count));
      make(parameter, begin, begin + count, values.data());
      const ParameterShard shard{.name = parameter.name,
                                 .offset = begin,
                                 .weight = slice_of(parameter.weight, begin, count),
                                 .gradient = {},
                                 .master = slice_of(parameter.master, begin, count),
                                 .moment1 = {},
                                 .moment2 = {}};
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
  }
}

std::vector<StateTensor> state_of(Parameters parameters) {
  std::vector<StateTensor> state;
  for (const ParameterTensors& parameter : parameters) {
    const auto add = [&](const char* kind, const Tensor& tensor) {
      if (tensor.data == nullptr) return;
      state.push_back(
          {kind, parameter.id, parameter.weight.dims, contiguous(0, tensor.elements()), tensor});
    };
    add("master", parameter.master);
    add("moment1", parameter.moment1);
    add("moment2", parameter.moment2);
  }
  return state;
}

}  // namespace

void start_random(Parameters parameters, const model::ModelConfig& config,
                  const RandomStart& start) {
  const Initialisation initialisation{start.seed, start.deviation};
  fill(parameters, start.precision,
       [&](const ParameterTensors& parameter, std::int64_t begin, std::int64_t end, float* values) {
         const auto make = [&](std::int64_t from, std::int64_t to) {
           fill_initial(config, parameter.id, initialisation, begin + from, begin + to, DType::fp32,
                        reinterpret_cast<std::byte*>(values + from));
         };
         make(0, 0);  // throws where the others would
         parallel_for(end - begin, start.threads,
                      [&](const Share& share) { make(share.begin, share.end); });
       });
}

void start_published(Parameters parameters, const PublishedWeights& weights,
                     plan::Precision precision) {
  fill(parameters, precision,
       [&](const ParameterTensors& parameter, std::int64_t begin, std::int64_t end, float* values) {
         weights.read(parameter.id, begin, end, DType::fp32, reinterpret_cast<std::byte*>(values));
       });
}

void start_checkpoint(Parameters parameters, const PublishedWeights& weights,
                      const StateFiles& state) {
  for (const ParameterTensors& parameter : parameters) {
    weights.read(parameter.id, parameter.weight);
  }
  for (const StateTensor& tensor : state_of(parameters)) {
    state.read(tensor.kind, tensor.parameter, tensor.shape, tensor.slice, tensor.data);
  }
}

std::string save_checkpoint(const std::string& folder, std::int64_t step, int keep,
                            Parameters parameters, const CheckpointFacts& facts) {
  std::unordered_map<std::string, const ParameterTensors*> by_name;
  for (const ParameterTensors& parameter : parameters) by_name[parameter.name] = &parameter;
  CheckpointSave save(folder, step);
  save.write_model(facts.config, {.dtype = facts.weights, .carried = facts.carried},
                   [&](const model::PublishedPart& part, const Window& window, std::byte* out) {
                     copy_window(by_name.at(to_string(part.id))->weight, part.size, window,
                                 facts.weights, out);
                   });
  save.write_run(facts.run);
  save.write_optimizer(state_of(parameters));
  save.close();
  save.publish(keep);
  return save.path();
}

}  // namespace fourhold::engine

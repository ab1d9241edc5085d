#include "fourhold/predict/model_flops.h"

#include <utility>
#include <vector>

#include "fourhold/plan/program.h"
#include "fourhold/predict/step_work.h"

namespace fourhold::predict {
namespace {

double block_flops(model::BlockOperations operations, const model::BatchSizes& sizes,
                   std::int64_t vocab) {
  const plan::ProgramBlock block =
      plan::lower_block(plan::shard(std::move(operations), {.padded_vocab = vocab}), {});
  double flops = 0;
  for (const std::vector<plan::Step>* steps : {&block.forward, &block.backward}) {
    for (const plan::Step& step : *steps) flops += step_work(block, step, sizes).model_flops;
  }
  return flops;
}

}  // namespace

double model_flops_per_sequence(const model::ModelConfig& config, std::int64_t seq,
                                std::int64_t prediction_layers) {
  const model::BatchSizes sizes{.micro_batch = 1, .seq = seq};
  model::Switches switches;
  switches.prediction_layers = prediction_layers;
  double flops =
      block_flops(model::embedding_operations(config, sizes, switches), sizes, config.vocab) +
      block_flops(model::head_operations(config, sizes, switches), sizes, config.vocab);
  std::vector<double> of_kind;
  for (std::size_t kind = 0; kind < config.kinds.size(); ++kind) {
    of_kind.push_back(block_flops(
        model::layer_operations(config, static_cast<std::int32_t>(kind), sizes, switches), sizes,
        config.vocab));
  }
  for (const auto kind : config.layers) flops += of_kind[static_cast<std::size_t>(kind)];
  return flops;
}

}  // namespace fourhold::predict

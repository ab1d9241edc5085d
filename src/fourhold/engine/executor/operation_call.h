// One operation of a step with its operands in memory: what the executor hands to the kernels.
//
// Made once when a run is prepared, so that a step allocates nothing and looks nothing up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fourhold/engine/executor/rank_groups.h"
#include "fourhold/engine/kernels/destination.h"
#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/kernels/gemm.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/numerics.h"
#include "fourhold/model/operations.h"
#include "fourhold/plan/program.h"

namespace fourhold::engine {

// A tensor to be written, and whether what it holds is added to.
struct Written {
  Tensor tensor;
  Destination destination = Destination::overwrite;
  [[nodiscard]] bool wanted() const { return tensor.data != nullptr; }
};

// A product prepared for its shapes, the scratch it takes, and how often it has been run.
struct PreparedGemm {
  const Gemm* gemm = nullptr;
  std::int64_t scratch_bytes = 0;
  double flops = 0;
  std::int64_t* runs = nullptr;

  void run(const GemmOperands& operands, std::span<std::byte> scratch) const {
    gemm->run(operands, scratch.first(static_cast<std::size_t>(scratch_bytes)));
    ++*runs;
  }
};

// The products of one linear layer.
struct LinearGemms {
  PreparedGemm forward;
  PreparedGemm backward_data;
  PreparedGemm backward_weight;
};

struct OperationCall {
  const model::Operation* operation = nullptr;
  const model::LayerKind* layer_kind = nullptr;  // null outside layers
  model::Block block = model::Block::layer;
  plan::Phase phase = plan::Phase::forward;
  plan::OperationCollective collective;  // of the phase
  // By place among the operation's inputs, outputs, parameters and transients; without data where
  // the step does not state them.
  std::array<Tensor, 4> inputs;
  std::array<Tensor, 4> outputs;
  std::array<Tensor, 4> output_gradients;
  std::array<Written, 4> input_gradients;
  std::array<Tensor, 2> parameters;
  std::array<Written, 2> parameter_gradients;
  std::array<Tensor, 2> transients;
  std::array<Tensor, 2> caches;  // of keys and of values; without data in training
  std::span<std::byte> scratch;  // as many bytes as the written rule says
  LinearGemms gemms;             // linear; of a chunk: chunked_loss
  LinearGemms last_gemms;        // of the last chunk where it is shorter
};

// What all calls of a run share.
struct ModelNumbers {
  const model::ModelConfig& config;
  const model::Numerics& numerics;
  std::int64_t micro_batch = 1;  // sequences
  std::int64_t seq = 0;          // tokens of one on this rank
};

enum class Purpose : std::uint8_t {
  train,
  evaluate,  // the loss alone: no gradients
};

// What changes from micro-batch to micro-batch.
struct MicroBatchState {
  Purpose purpose = Purpose::train;
  float inverse_tokens = 0;  // one over the valid tokens of the global batch
  double loss_sum = 0;       // of this rank's tokens so far, not scaled
  // Position of the first token of each sequence: as many as caches hold before the call.
  std::int64_t first_position = 0;
};

struct OperationContext {
  const ModelNumbers& model;
  MicroBatchState& state;
  Execution execution;
  RankContext ranks;
};

// Forward (also when recomputing) or backward, as the call's phase says.
void run_operation(const OperationCall& call, const OperationContext& context);

// Throws Error when the engine has no kernel for an operation, naming it.
void require_operation(const model::Operation& operation);

}  // namespace fourhold::engine

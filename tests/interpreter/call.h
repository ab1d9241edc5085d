// One operation at one place of the run: what it may read, where it stands, whom it can meet.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fourhold/plan/mesh.h"
#include "fourhold/plan/program.h"
#include "tests/interpreter/array.h"
#include "tests/interpreter/batch.h"
#include "tests/interpreter/meeting.h"

namespace fourhold::interpreter {

// What all ranks of a run share.
struct Setting {
  model::ModelConfig config;
  plan::Plan plan;
  model::Switches switches;
  Batch batch;
};

class Call {
 public:
  const Setting& setting;
  const plan::ProgramBlock& block;
  const plan::Step& step;
  std::int64_t rank = 0;
  std::int64_t layer = -1;
  std::int64_t micro_batch = 0;
  double counted_tokens = 0;  // what the rank knows of valid_tokens(), 0 = nothing yet
  Door& door;
  // Filled by the rank: values and gradients the step may read, by tensor; weights by parameter.
  std::map<std::int16_t, Array> readable = {};
  std::map<int, Array> gradients = {};  // by position among the operation's outputs
  std::map<std::int16_t, const std::vector<double>*> weights = {};

  [[nodiscard]] const model::Operation& op() const {
    return block.sharded.operations.operations[static_cast<std::size_t>(step.operation)];
  }
  [[nodiscard]] const model::ModelConfig& config() const { return setting.config; }
  // Of the layer this block is. Asserts that it is one.
  [[nodiscard]] const model::LayerKind& layer_kind() const;
  [[nodiscard]] const model::Tensor& tensor(model::TensorId id) const;

  // A value. Throws ProgramFault when the step does not state that it reads it.
  [[nodiscard]] const Array& value(model::TensorId id) const;
  [[nodiscard]] const Array& in(int k) const { return value(op().inputs[k]); }
  // The gradient of output k, which must flow; and whether one does.
  [[nodiscard]] const Array& gradient(int k) const;
  [[nodiscard]] bool has_gradient(int k) const { return gradients.count(k) != 0; }

  // Valid tokens of the global batch. Throws ProgramFault before they are counted.
  [[nodiscard]] double valid_tokens() const;

  // Parameter k of the operation: its values, shapes, and whether its gradient is wanted. A weight
  // is asked for with the size the mathematics needs; throws ProgramFault when it has another.
  [[nodiscard]] bool has_parameter(int k) const { return k < op().parameters.size(); }
  [[nodiscard]] const double* weight(int k, std::int64_t size) const;
  [[nodiscard]] const plan::LocalParameter& parameter(int k) const;
  [[nodiscard]] bool trains(int k) const;
  // Zeros for the gradient of parameter k.
  [[nodiscard]] std::vector<double> parameter_zeros(int k) const;

  // Zeros of the local shape of a tensor, with this many rows.
  [[nodiscard]] Array zeros(model::TensorId id, std::int64_t rows) const;
  [[nodiscard]] Array zeros(model::TensorId id) const {
    return zeros(id, tensor(id).shape[0].size);
  }

  [[nodiscard]] plan::Coordinates at() const { return plan::coordinates(setting.plan, rank); }
  // The tokens along the first dimension of a tensor of that region.
  [[nodiscard]] std::vector<TokenPlace> places(model::Region region) const;
  [[nodiscard]] std::vector<TokenPlace> places_of(std::int64_t other, model::Region region) const;

  // The group of the step's collective ({rank} when it has none), and what all of it brought.
  [[nodiscard]] Group group() const;
  [[nodiscard]] std::int64_t place_in_group() const;
  const std::vector<Payload>& meet(Payload payload) const;
  // Throws ProgramFault unless the step states this payload: elements in the type of `like`.
  void check_payload(std::int64_t elements, DType dtype) const;
};

// Outputs of a forward operation, or gradients of a backward one's inputs (empty where none flows);
// and gradients of its parameters, in their order (empty where none is wanted).
struct Results {
  std::vector<Array> tensors;
  std::vector<std::vector<double>> parameters;
};

// The mathematics of one kind of operation.
struct Kernel {
  Results (*forward)(const Call&);
  Results (*backward)(const Call&);
};
[[nodiscard]] Kernel kernel_of(model::OpKind kind);

}  // namespace fourhold::interpreter

#include "tests/interpreter/call.h"

#include <cassert>

#include "tests/interpreter/fault.h"
#include "tests/interpreter/parameters.h"

namespace fourhold::interpreter {

const model::LayerKind& Call::layer_kind() const {
  const std::int32_t kind = block.sharded.operations.layer_kind;
  assert(kind >= 0 && "only layers have a kind");
  return setting.config.kinds[static_cast<std::size_t>(kind)];
}

const model::Tensor& Call::tensor(model::TensorId id) const {
  return block.sharded.operations.tensors[static_cast<std::size_t>(id)];
}

const Array& Call::value(model::TensorId id) const {
  const auto found = readable.find(id);
  if (found == readable.end()) {
    throw ProgramFault("needs " + std::string(model::to_string(tensor(id).name)) +
                       ", which the step does not read");
  }
  return found->second;
}

double Call::valid_tokens() const {
  if (counted_tokens == 0) throw ProgramFault("the loss is taken before its tokens are counted");
  return counted_tokens;
}

const Array& Call::gradient(int k) const {
  const auto found = gradients.find(k);
  if (found == gradients.end()) {
    throw ProgramFault("needs the gradient of its output " + std::to_string(k) +
                       ", which the step does not read");
  }
  return found->second;
}

const double* Call::weight(int k, std::int64_t size) const {
  const auto found = weights.find(op().parameters[k]);
  if (found == weights.end()) {
    throw ProgramFault("needs parameter " + std::to_string(k) + ", which the step does not read");
  }
  if (static_cast<std::int64_t>(found->second->size()) != size) {
    throw ProgramFault("parameter " + std::to_string(k) + " has another size than its use");
  }
  return found->second->data();
}

const plan::LocalParameter& Call::parameter(int k) const {
  return block.sharded.parameters[static_cast<std::size_t>(op().parameters[k])];
}

bool Call::trains(int k) const {
  return has_parameter(k) && step.writes_gradients.contains(op().parameters[k]);
}

std::vector<double> Call::parameter_zeros(int k) const {
  return std::vector<double>(static_cast<std::size_t>(parameter(k).elements()), 0.0);
}

Array Call::zeros(model::TensorId id, std::int64_t rows) const {
  const model::Shape& shape = tensor(id).shape;
  Dims dims{rows};
  for (int i = 1; i < shape.rank(); ++i) dims.push_back(shape[i].size);
  return Array(dims);
}

std::vector<TokenPlace> Call::places(model::Region region) const { return places_of(rank, region); }

std::vector<TokenPlace> Call::places_of(std::int64_t other, model::Region region) const {
  return token_places(setting.plan, plan::coordinates(setting.plan, other), micro_batch, region);
}

Group Call::group() const {
  if (step.collective.kind == plan::Collective::none) return {rank};
  return plan::group_of(setting.plan, step.collective.axis, rank, 1);
}

std::int64_t Call::place_in_group() const { return place_in(group(), rank); }

const std::vector<Payload>& Call::meet(Payload payload) const {
  const std::string topic = "operation " + std::to_string(step.operation) + " phase " +
                            std::to_string(static_cast<int>(step.phase)) + " of " +
                            std::string(model::to_string(block.sharded.operations.block)) + " " +
                            std::to_string(layer) + " collective " +
                            std::to_string(static_cast<int>(step.collective.kind));
  return door.meet(group(), topic, std::move(payload));
}

void Call::check_payload(std::int64_t elements, DType dtype) const {
  if (step.collective.kind == plan::Collective::none) return;
  const std::int64_t bytes = bytes_of(elements, dtype);
  if (bytes != step.payload_bytes) {
    throw ProgramFault("brings " + std::to_string(bytes) + " bytes to a collective, but states " +
                       std::to_string(step.payload_bytes));
  }
}

}  // namespace fourhold::interpreter

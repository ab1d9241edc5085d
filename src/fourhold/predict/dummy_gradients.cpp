#include "fourhold/predict/dummy_gradients.h"

#include <map>
#include <set>
#include <utility>

namespace fourhold::predict {
namespace {

// Rows and columns of a weight: what a cache of shapes is keyed by.
using WeightShape = std::pair<std::int64_t, std::int64_t>;

// [rows, columns] of one expert's or a dense local weight. o_weight is stored [h | a, d].
WeightShape weight_shape(const plan::LocalParameter& parameter) {
  std::int64_t elements = parameter.elements();
  if (parameter.expert) elements /= parameter.shape[0].size;
  const bool output_first = parameter.use.parameter.name == model::TensorName::o_weight;
  const std::int64_t columns = output_first ? elements / parameter.shape[0].size
                                            : parameter.shape[parameter.shape.rank() - 1].size;
  return {elements / columns, columns};
}

void add_shapes(const plan::ProgramBlock& block, std::set<WeightShape>& shapes) {
  // Rows of packed weights add up; they share their columns.
  std::map<model::PackedGroup, WeightShape> packed;
  for (const model::Operation& op : block.sharded.operations.operations) {
    if (op.kind != model::OpKind::linear || op.parameters.empty()) continue;
    const plan::LocalParameter& weight =
        block.sharded.parameters[static_cast<std::size_t>(op.parameters[0])];
    const bool routes = weight.use.parameter.name == model::TensorName::router_weight;
    if (!weight.use.trainable || routes) continue;
    const WeightShape shape = weight_shape(weight);
    if (op.packed == model::PackedGroup::none) {
      shapes.insert(shape);
      continue;
    }
    WeightShape& sum = packed[op.packed];
    sum = {sum.first + shape.first, shape.second};
  }
  for (const auto& [group, shape] : packed) shapes.insert(shape);
}

}  // namespace

std::int64_t dummy_gradient_elements(const plan::ProgramBlocks& blocks,
                                     const std::vector<std::int64_t>& instances) {
  std::set<WeightShape> shapes;
  for (std::size_t i = 0; i < blocks.blocks.size(); ++i) {
    if (instances[i] > 0) add_shapes(blocks.blocks[i], shapes);
  }
  std::int64_t elements = 0;
  for (const auto& [rows, columns] : shapes) elements += rows * columns;
  return elements;
}

}  // namespace fourhold::predict

#include "fourhold/search/shapes.h"

#include "fourhold/predict/memory.h"

namespace fourhold::search {

Shape& Shapes::of(const plan::Plan& plan, const plan::ProgramBlocks& blocks) {
  std::unique_ptr<Shape>& made = shapes_[{plan.pp, plan.vpp, plan.recompute.full_layers}];
  if (made == nullptr) {
    made = std::make_unique<Shape>();
    made->pipeline = pipeline_shape(config_, blocks, plan, profile_);
  }
  return *made;
}

const StageMoments& Shapes::moments(Shape& shape, const plan::Plan& plan,
                                    const plan::ProgramBlocks& blocks, bool reduces_each_block) {
  const std::pair key{predict::representative_micro_batches(plan), reduces_each_block};
  const auto found = shape.moments.find(key);
  if (found != shape.moments.end()) return found->second;
  // Under storages that gather nothing, what is gathered ahead weighs nothing.
  const plan::StateMotion motion{.gathers_blocks = true, .reduces_each_block = reduces_each_block};
  return shape.moments
      .emplace(key, shape_moments(shape.pipeline, blocks, plan, motion, profile_.gradient_lifetime))
      .first->second;
}

}  // namespace fourhold::search

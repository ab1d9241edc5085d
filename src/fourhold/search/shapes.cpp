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
                                    const plan::ProgramBlocks& blocks,
                                    const plan::StateMotion& motion) {
  std::optional<StageMoments>& made =
      shape.moments[predict::representative_micro_batches(plan)][index_of(motion)];
  if (!made) {
    made = shape_moments(shape.pipeline, blocks, plan, motion, profile_.gradient_lifetime);
  }
  return *made;
}

}  // namespace fourhold::search

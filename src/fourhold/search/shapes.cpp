#include "fourhold/search/shapes.h"

#include "fourhold/plan/schedule.h"
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
    std::vector<const predict::SlotStates*> of_stages;
    for (const StageShape& stage : shape.pipeline.stages) {
      of_stages.push_back(&slots(plan, stage.stage));
    }
    made = shape_moments(shape.pipeline, blocks, of_stages, motion, profile_.gradient_lifetime);
  }
  return *made;
}

const predict::SlotStates& Shapes::slots(const plan::Plan& plan, std::int64_t stage) {
  const std::int64_t micro_batches = predict::representative_micro_batches(plan);
  std::unique_ptr<predict::SlotStates>& made = slots_[{plan.pp, plan.vpp, stage, micro_batches}];
  if (made == nullptr) {
    made = std::make_unique<predict::SlotStates>(predict::fullest_slots(
        plan::stage_slots(plan.schedule, plan.pp, stage, plan.vpp, micro_batches),
        static_cast<std::size_t>(plan.vpp)));
  }
  return *made;
}

}  // namespace fourhold::search

#include "fourhold/search/shapes.h"

#include <algorithm>

#include "fourhold/plan/schedule.h"
#include "fourhold/predict/memory.h"

namespace fourhold::search {
namespace {

bool makes_gradients_forward(const plan::ProgramBlocks& blocks) {
  const auto& steps = blocks.blocks[static_cast<std::size_t>(blocks.head)].forward;
  return std::any_of(steps.begin(), steps.end(),
                     [](const plan::Step& step) { return !step.writes_gradients.empty(); });
}

}  // namespace

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
  std::optional<StageMoments>& made = shape.moments[micro_batches(plan, blocks)][index_of(motion)];
  if (made) return *made;
  const plan::StateMotion widest{.gathers_blocks = true, .reduces_each_block = true};
  if (index_of(motion) != index_of(widest) && !makes_gradients_forward(blocks)) {
    const StageMoments& all = moments(shape, plan, blocks, widest);
    StageMoments& fewer = made.emplace();
    fewer.reserve(all.size());
    for (const PeakMoments& stage : all) fewer.push_back(narrowed(stage, motion));
  } else {
    std::vector<const predict::SlotStates*> of_stages;
    for (const StageShape& stage : shape.pipeline.stages) {
      of_stages.push_back(&slots(plan, stage.stage, micro_batches(plan, blocks)));
    }
    made = shape_moments(shape.pipeline, blocks, of_stages, motion, profile_.gradient_lifetime);
  }
  Works& works = plan.recompute.full_layers < 0 ? works_ : works_partly_;
  for (PeakMoments& stage : *made) works.name(stage);
  return *made;
}

// Past the ramp all are alike: of 1F1B pp fill it, and what comes later finds no more alive unless
// gradients are born on the way.
std::int64_t Shapes::micro_batches(const plan::Plan& plan,
                                   const plan::ProgramBlocks& blocks) const {
  const bool births = profile_.gradient_lifetime == plan::GradientLifetime::backward_to_step ||
                      makes_gradients_forward(blocks);
  return plan.schedule == plan::ScheduleKind::one_f_one_b && !births
             ? std::min(plan.grad_accum, plan.pp)
             : predict::representative_micro_batches(plan);
}

const predict::SlotStates& Shapes::slots(const plan::Plan& plan, std::int64_t stage,
                                         std::int64_t micro_batches) {
  std::unique_ptr<predict::SlotStates>& made = slots_[{plan.pp, plan.vpp, stage, micro_batches}];
  if (made == nullptr) {
    made = std::make_unique<predict::SlotStates>(predict::fullest_slots(
        plan::stage_runs(plan.schedule, plan.pp, stage, plan.vpp, micro_batches),
        static_cast<std::size_t>(plan.vpp)));
  }
  return *made;
}

}  // namespace fourhold::search

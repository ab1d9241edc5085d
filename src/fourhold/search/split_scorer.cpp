#include "fourhold/search/split_scorer.h"

#include <cstddef>
#include <utility>

#include "fourhold/predict/time.h"

namespace fourhold::search {

std::vector<Storage> storages_of(const Space& space) {
  std::vector<Storage> storages;
  for (const int zero : space.zeros()) {
    for (const plan::Offload offload : space.offloads()) {
      storages.push_back({.zero = zero, .offload = offload});
    }
  }
  return storages;
}

SplitScorer::SplitScorer(Problem& problem, const OuterTuple& outer)
    : problem_(problem),
      outer_(outer),
      storages_(storages_of(problem.space)),
      recomputes_(problem.space.recomputes(outer)) {}

SplitScorer::OfClass& SplitScorer::class_tables() {
  OfClass& tables = classes_[static_cast<std::size_t>(class_of(plan_.recompute))];
  if (tables.lowered == nullptr) {
    tables.lowered = &problem_.lowering.blocks(plan_);
    tables.states = storage_states(tables.lowered->blocks, plan_, problem_.profile, storages_);
  }
  if (tables.micro_batch != plan_.micro_batch) {
    tables.micro_batch = plan_.micro_batch;
    tables.facts = &problem_.lowering.facts(plan_);
    tables.weights.clear();
    tables.work_bytes.assign(storages_.size(), {});
    for (const StorageStates& states : tables.states) {
      tables.weights.push_back(
          storage_blocks(tables.facts->lifetimes, states, problem_.profile.gradient_lifetime));
    }
  }
  return tables;
}

SplitScorer::OfPipeline& SplitScorer::pipeline_tables() {
  const auto [at, is_new] = pipelines_.try_emplace(plan_.vpp);
  if (is_new) {
    // Stages differ alike under every policy, and their state does not depend on it.
    plan::Plan plain = plan_;
    plain.recompute = {};
    const LoweredBlocks& lowered = problem_.lowering.blocks(plain);
    plain.micro_batch = lowered.micro_batch;  // buffers of tensors grow from their shapes
    const Shape& shape = problem_.shapes.of(plain, lowered.blocks);
    at->second.bases =
        stage_bases(problem_.config, lowered, shape.pipeline, plain, problem_.profile, storages_);
    at->second.traffic = storage_traffic(problem_.config, lowered.blocks, plain, problem_.profile,
                                         problem_.cluster, storages_);
  }
  return at->second;
}

void SplitScorer::select(const Group& group) {
  if (plan_.vpp != group.vpp || plan_.seq == 0) {
    plan_ = problem_.space.plan(outer_, group.vpp, storages_.front().zero, group.micro_batch,
                                recomputes_[static_cast<std::size_t>(group.recompute)],
                                storages_.front().offload);
  }
  plan_.micro_batch = group.micro_batch;
  plan_.grad_accum = plan_.global_batch / (plan_.dp * plan_.micro_batch);
  plan_.recompute = recomputes_[static_cast<std::size_t>(group.recompute)];
  class_ = &class_tables();
  pipeline_ = &pipeline_tables();
  const plan::ProgramBlocks& blocks = class_->lowered->blocks;
  Shape& shape = problem_.shapes.of(plan_, blocks);
  moments_.fill(nullptr);
  for (const StorageStates& states : class_->states) {
    const std::size_t motion = index_of(states.motion);
    if (moments_[motion] != nullptr) continue;
    moments_[motion] = &problem_.shapes.moments(shape, plan_, blocks, states.motion);
    sum_alive(*moments_[motion], class_->weights.front(), alive_[motion]);
  }
  const Works& works = problem_.shapes.works(plan_.recompute);
  for (std::size_t i = 0; i < storages_.size(); ++i) {
    weigh_works(works, class_->weights[i], class_->work_bytes[i]);
  }
  // The chunks keep their buffer from group to group.
  std::vector<predict::ChunkSeconds> chunks = std::move(step_.chunks);
  const predict::StreamBytes stream{
      .sent = class_->facts->stream_bytes,
      .offloaded = offloaded_bytes(shape.pipeline, class_->facts->lifetimes)};
  step_ = predict::step_frame(stream, problem_.config, plan_, problem_.profile, problem_.cluster);
  step_.chunks = std::move(chunks);
  sum_chunks(shape.pipeline, class_->facts->seconds, step_.chunks);
}

PlanBytes SplitScorer::bytes(std::size_t storage) {
  const std::size_t motion = index_of(class_->states[storage].motion);
  if (problem_.profile.gradient_lifetime != plan::GradientLifetime::persistent) {
    sum_alive(*moments_[motion], class_->weights[storage], alive_[motion]);
  }
  return plan_bytes(*moments_[motion], alive_[motion], pipeline_->bases[storage],
                    class_->work_bytes[storage], plan_.micro_batch);
}

double SplitScorer::group_bound() {
  const std::vector<predict::StateTraffic> none(static_cast<std::size_t>(plan_.pp));
  return clock_.seconds(step_, none, predict::PipelineMethod::scored);
}

double SplitScorer::seconds(std::size_t storage, predict::PipelineMethod method) {
  const StorageTraffic& traffic = pipeline_->traffic[storage];
  return clock_.seconds(step_, plan_.grad_accum > 1 ? traffic.several : traffic.one_micro_batch,
                        method);
}

}  // namespace fourhold::search

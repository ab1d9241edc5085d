#include "fourhold/predict/memory.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/ledger/placement.h"
#include "fourhold/plan/validate.h"
#include "fourhold/predict/expanded_ledger.h"
#include "fourhold/predict/placed_length.h"
#include "fourhold/predict/stage_model.h"
#include "fourhold/predict/start_peak.h"

namespace fourhold::predict {
namespace {

// What a rank holds while the model is loaded, by the profile's way of loading.
Bytes plain_startup_bytes(const plan::Profile& profile, const StageModel& stage) {
  const std::int64_t whole = bytes_of(stage.totals().parameters, stage.program().recipe.gathered);
  switch (profile.startup) {
    case plan::Startup::start_program:
      return Bytes(start_peak_bytes(stage));
    case plan::Startup::sharded:
      break;
    case plan::Startup::full_copy:
      return Bytes(whole);
    case plan::Startup::full_copy_beside_shard: {
      const plan::Plan& plan = stage.program().plan;
      const std::int64_t ranks = plan.zero == 3 ? plan.dp * plan.cp / plan.shard_groups : 1;
      return Bytes(ranks == 1 ? whole : whole + ceil_divide(whole, ranks));
    }
    case plan::Startup::full_fp32_copy:
      return Bytes(bytes_of(stage.totals().parameters, DType::fp32));
  }
  return Bytes(stage.totals().resident_bytes);
}

Bytes startup_bytes(const plan::Profile& profile, const StageModel& stage) {
  const Bytes plain = plain_startup_bytes(profile, stage);
  if (profile.startup_factor <= 1) return plain;
  return Bytes(static_cast<std::int64_t>(
      std::ceil(static_cast<double>(plain.count()) * profile.startup_factor)));
}

struct HostBuffers {
  Bytes all;
  Bytes activations;  // of them
};

HostBuffers host_buffers(const StageModel& stage) {
  HostBuffers sum;
  for (const StageTensor& tensor : stage.input().tensors) {
    if (tensor.place != ledger::Place::host) continue;
    const Bytes bytes = Bytes(bytes_of(tensor.elements, tensor.dtype)) * tensor.copies;
    sum.all += bytes;
    if (tensor.category == ledger::Category::saved_activation) sum.activations += bytes;
  }
  return sum;
}

std::int64_t fullest_stage(const plan::Plan& plan) {
  return *std::max_element(plan.layers_per_stage.begin(), plan.layers_per_stage.end());
}

std::string_view schedule_text(const plan::Plan& plan) {
  return plan::kScheduleNames.at(static_cast<std::size_t>(plan.schedule));
}

// An arena is placed for all tensors that are alive together, and walked through all that are not.
void refuse_long_placement(const plan::Plan& plan) {
  const std::int64_t layers = fullest_stage(plan);
  const std::int64_t most =
      most_placed_micro_batches({.schedule = plan.schedule, .pp = plan.pp, .layers = layers});
  if (plan.grad_accum <= most) return;
  const bool all_in_flight = plan.schedule == plan::ScheduleKind::gpipe;
  plan::refuse(
      plan, "grad_accum",
      fmt::format("{} micro-batches {} under {}: with {} layers per "
                  "stage the arena of profile {} is placed for at most {}",
                  plan.grad_accum, all_in_flight ? "are all in flight" : "follow each other",
                  schedule_text(plan), layers, plan.profile, most),
      most > 0 ? fmt::format("use grad_accum of at most {}, {}or profile standard", most,
                             all_in_flight ? "schedule 1f1b, " : "a larger micro_batch, ")
               : std::string("use schedule 1f1b, or profile standard"));
}

// A replay walks through all micro-batches that do not repeat each other: GPipe's are all in
// flight.
void refuse_long_replay(const plan::Plan& plan) {
  const std::int64_t most = kMostWalkedLayers / std::max<std::int64_t>(1, fullest_stage(plan));
  if (plan.grad_accum <= most) return;
  plan::refuse(
      plan, "grad_accum",
      fmt::format("{} micro-batches are all in flight under {}: with {} layers per stage "
                  "the allocator of profile {} is replayed for at most {}",
                  plan.grad_accum, schedule_text(plan), fullest_stage(plan), plan.profile, most),
      fmt::format("use grad_accum of at most {}, schedule 1f1b, or profile standard", most));
}

// Size of the arena of the stage that allocates most: what the engine reserves.
Bytes placed_bytes(const model::ModelConfig& config, const plan::Plan& plan,
                   const plan::Profile& profile, std::int64_t stage) {
  refuse_long_placement(plan);
  const ledger::Ledger ledger = expanded_ledger(config, arena_plan(plan), profile, stage);
  return ledger::place(ledger.entries).reserved_bytes;
}

Bytes share_bytes(const plan::Profile& profile, const MemoryPrediction& prediction) {
  return Bytes(static_cast<std::int64_t>(std::ceil(
      static_cast<double>(prediction.allocated_bytes.count()) * profile.needed_over_allocated())));
}

// What an allocator of the user's own runs holds where the replay holds this.
Bytes corrected_bytes(const plan::Profile& profile, std::int64_t replayed) {
  if (profile.memory_correction == 1) return Bytes(replayed);
  return Bytes(static_cast<std::int64_t>(
      std::ceil(static_cast<double>(replayed) * profile.memory_correction)));
}

Bytes reserved_bytes(const model::ModelConfig& config, const plan::Plan& plan,
                     const plan::Profile& profile, const MemoryPrediction& prediction,
                     WithLedger with_ledger) {
  switch (profile.reservation) {
    case plan::Reservation::placement:
      if (with_ledger == WithLedger::no) return prediction.allocated_bytes;
      return placed_bytes(config, plan, profile, prediction.peak_stage);
    case plan::Reservation::allocator:
      if (prediction.allocator) {
        return corrected_bytes(profile, prediction.allocator->reserved_peak_bytes.back());
      }
      break;
    case plan::Reservation::share:
      break;
  }
  return share_bytes(profile, prediction);
}

}  // namespace

AllocatorPrediction replay_stage(const model::ModelConfig& config, const plan::Plan& plan,
                                 const plan::Profile& profile, std::int64_t stage,
                                 std::int64_t capacity_bytes) {
  const plan::Plan representative = representative_plan(plan);
  refuse_long_replay(representative);
  const ExpandedRun run = expanded_run(config, representative, profile, stage);
  ReplayRules rules = replay_rules(profile, plan);
  AllocatorPrediction prediction{replay_allocator(run, rules, capacity_bytes)};
  const std::int64_t own = prediction.reserved_peak_bytes.back();
  prediction.immediate_bytes = own;
  prediction.deferred_bytes = own;
  if (run.collective_tensors.empty()) return prediction;
  const bool defers = rules.deferred_collectives == plan::DeferredCollectives::yes;
  rules.deferred_collectives =
      defers ? plan::DeferredCollectives::no : plan::DeferredCollectives::yes;
  const std::int64_t other =
      replay_allocator(run, rules, capacity_bytes).reserved_peak_bytes.back();
  (defers ? prediction.immediate_bytes : prediction.deferred_bytes) = other;
  return prediction;
}

std::int64_t representative_micro_batches(const plan::Plan& plan) {
  switch (plan.schedule) {
    case plan::ScheduleKind::gpipe:
      break;
    case plan::ScheduleKind::one_f_one_b:
      return std::min(plan.grad_accum, plan.pp + 2);
    case plan::ScheduleKind::interleaved:
      return std::min(plan.grad_accum, 3 * plan.pp);
  }
  return plan.grad_accum;
}

void limit_reserved(const model::ModelConfig& config, const plan::Plan& plan,
                    const plan::Profile& profile, Bytes usable_bytes, MemoryPrediction& memory) {
  const Bytes capacity = usable_bytes - Bytes(profile.runtime_bytes);
  if (!memory.allocator || memory.reserved_bytes <= capacity) return;
  if (memory.needed_bytes > usable_bytes) return;
  const auto replayed_capacity = static_cast<std::int64_t>(
      std::floor(static_cast<double>(capacity.count()) / profile.memory_correction));
  memory.allocator = replay_stage(config, plan, profile, memory.peak_stage, replayed_capacity);
  // Where its blocks do not serve a request it has asked the device for all there is.
  memory.reserved_bytes =
      memory.allocator->out_of_memory
          ? capacity
          : std::min(capacity,
                     corrected_bytes(profile, memory.allocator->reserved_peak_bytes.back()));
  memory.device_bytes = memory.reserved_bytes + Bytes(profile.runtime_bytes);
}

plan::Plan arena_plan(const plan::Plan& plan) {
  return plan.pp == 1 ? representative_plan(plan) : plan;
}

plan::Plan representative_plan(const plan::Plan& plan) {
  plan::Plan shorter = plan;
  shorter.grad_accum = representative_micro_batches(plan);
  shorter.global_batch = shorter.micro_batch * shorter.grad_accum * shorter.dp;
  return shorter;
}

namespace {

MemoryPrediction predict_stages(const model::ModelConfig& config, const plan::Plan& plan,
                                const plan::Profile& profile, WithLedger with_ledger) {
  const plan::ProgramBlocks blocks = plan::lower_blocks(config, plan, profile);
  std::vector<BlockLifetimes> lifetimes;
  lifetimes.reserve(blocks.blocks.size());
  for (const plan::ProgramBlock& block : blocks.blocks) lifetimes.push_back(block_lifetimes(block));
  const plan::Plan representative = representative_plan(plan);

  MemoryPrediction prediction;
  prediction.stages.reserve(static_cast<std::size_t>(plan.pp));
  for (std::int64_t index = 0; index < plan.pp; ++index) {
    const StageModel stage(config, blocks, lifetimes, representative, profile, index);
    const StageWalk walk = walk_stage(stage.input().walk);
    StageMemory memory;
    memory.stage = index;
    memory.layers = stage.layers();
    memory.in_flight = walk.in_flight;
    if (with_ledger == WithLedger::yes) {
      memory.ledger = stage_ledger(stage.input(), walk);
    } else {
      memory.ledger.live_peak_bytes = Bytes(walk.peak.bytes);
    }
    memory.state_bytes = stage.totals().resident_bytes + stage.totals().gradient_bytes;
    memory.fixed_bytes = stage.fixed_bytes();
    memory.host_bytes = stage.totals().host_bytes;
    if (memory.ledger.live_peak_bytes > prediction.allocated_bytes) {
      prediction.peak_stage = index;
      prediction.allocated_bytes = memory.ledger.live_peak_bytes;
    }
    prediction.startup_bytes = std::max(prediction.startup_bytes, startup_bytes(profile, stage));
    prediction.host_bytes = std::max(prediction.host_bytes, Bytes(memory.host_bytes));
    const HostBuffers buffers = host_buffers(stage);
    prediction.host_staging_bytes = std::max(prediction.host_staging_bytes, buffers.all);
    prediction.host_activation_bytes =
        std::max(prediction.host_activation_bytes, buffers.activations);
    prediction.stages.push_back(std::move(memory));
  }
  if (profile.reservation == plan::Reservation::allocator && with_ledger == WithLedger::yes) {
    prediction.allocator =
        replay_stage(config, plan, profile, prediction.peak_stage, CachingAllocator::kUnlimited);
  }
  prediction.reserved_bytes = reserved_bytes(config, plan, profile, prediction, with_ledger);
  if (profile.reservation == plan::Reservation::placement && with_ledger == WithLedger::yes) {
    const auto worst = static_cast<std::size_t>(prediction.peak_stage);
    prediction.stages[worst].ledger.reserved_bytes = prediction.reserved_bytes;
  }
  prediction.device_bytes = prediction.reserved_bytes + Bytes(profile.runtime_bytes);
  prediction.needed_bytes = profile.reservation == plan::Reservation::allocator
                                ? share_bytes(profile, prediction) + Bytes(profile.runtime_bytes)
                                : prediction.device_bytes;
  return prediction;
}

}  // namespace

MemoryPrediction predict_memory(const model::ModelConfig& config, const plan::Plan& plan,
                                const plan::Profile& profile, WithLedger with_ledger) {
  try {
    return predict_stages(config, plan, profile, with_ledger);
  } catch (const Error& fault) {
    if (fault.where() != kSizeFault) throw;
    plan::refuse_size(plan);
  }
}

}  // namespace fourhold::predict

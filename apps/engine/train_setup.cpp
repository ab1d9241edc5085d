#include "apps/engine/train_setup.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "apps/engine/machine.h"
#include "apps/engine/memory_checks.h"
#include "apps/engine/training_checks.h"
#include "apps/engine/training_run.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/train/process_memory.h"

namespace fourhold::engine_app {
namespace {

api::RunRequest run_request(const api::TrainRequest& request) {
  api::RunRequest run = training_run(request);
  // Without a word about dp, it is what the ranks leave for it.
  const std::int64_t ranks = rank_place().started.ranks;
  if (ranks > 1 && !run.plan.count && !run.plan.dp) run.plan.count = ranks;
  run.plan.threads = threads_of(run.plan.threads.value_or(0));
  run.plan.isa = std::string(plan::to_string(use_isa(run.plan.isa)));
  return run;
}

// As a user may repeat it behind mpirun.
std::string command_of(const api::TrainRequest& request) {
  return fmt::format("fourhold train {}{}{} ...", request.model,
                     request.plan_file.empty() ? "" : " ", request.plan_file);
}

// Of a rank: those of one node share its memory.
MemoryLimit rank_memory(const api::TrainRequest& request, const plan::Plan& plan) {
  const std::int64_t sharers = std::min(rank_place().node_ranks, plan.devices());
  return memory_limit(request.memory, Bytes(engine::available_memory().count() / sharers));
}

}  // namespace

PreparedTraining prepare_training(const api::TrainRequest& request, const JoinedRanks& ranks) {
  CheckedTraining checked = check_training(request, run_request(request));
  const api::LoadedRun& run = checked.run;
  const plan::Plan& plan = checked.planned.plan;
  std::vector<std::string> warnings = engine::check_ranks(
      {plan.devices(), plan.threads, shared_memory(ranks.place()), command_of(request)},
      ranks.place());
  const MemoryLimit limit = rank_memory(request, plan);
  require_memory(run, checked.planned, limit);
  PreparedTraining prepared;
  prepared.setup = std::move(checked.setup);
  prepared.setup.place = ranks.own();
  prepared.available_bytes = limit.bytes;
  prepared.predicted_bytes = checked.planned.memory.reserved_bytes;
  prepared.notes = run.notes;
  api::add_zero_note(plan, prepared.notes);
  prepared.notes.insert(prepared.notes.end(), warnings.begin(), warnings.end());
  if (run.model.position == model::PositionKind::rotary && run.model.max_positions > 0 &&
      plan.seq > run.model.max_positions) {
    prepared.notes.push_back(fmt::format(
        "--seq {} is {} above the model's max_position_embeddings of {}: rotary positions go on, "
        "but weights that are published have not learned them",
        format_count(plan.seq), format_count(plan.seq - run.model.max_positions),
        format_count(run.model.max_positions)));
  }
  if (run.model.dropout > 0 || run.model.attention_dropout > 0 || run.model.embedding_dropout > 0) {
    prepared.notes.emplace_back("the config asks for dropout; the engine trains without");
  }
  return prepared;
}

}  // namespace fourhold::engine_app

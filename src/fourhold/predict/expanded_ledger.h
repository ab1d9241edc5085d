// The ledger of one rank written out: one entry per tensor, with absolute steps. The engine
// reserves it and the compact ledger is held to it.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/ledger/ledger.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/predict/host_lead.h"
#include "fourhold/predict/replay_extras.h"

namespace fourhold::predict {

// Walks every step of the stage's program (plan/expand.h) and books first and last use of each
// tensor: nothing of the compact form's arithmetic is used. Peak and copies_at_peak are marked.
[[nodiscard]] ledger::Ledger expanded_ledger(const model::ModelConfig& config,
                                             const plan::Plan& plan, const plan::Profile& profile,
                                             std::int64_t stage);

// A buffer that a library makes when it is first needed and keeps for the run.
struct FirstUse {
  std::int32_t entry = 0;
  std::int64_t step = 0;  // of the first optimizer step
};

// The same with what a replay of an allocator asks beside lifetimes.
struct ExpandedRun {
  ledger::Ledger ledger;
  std::vector<std::int32_t> collective_tensors;  // entries of collectives, ascending
  std::vector<std::int32_t> gathered;            // entries that tensor parallelism gathers into
  std::vector<FirstUse> workspaces;              // of each thread's products, entries ascending
  std::vector<HostStep> host;                    // per step
  std::vector<std::int64_t> waits;               // steps at which the host waits for the device
  std::vector<Extra> fresh_gradients;  // of weights, until the micro-batch's backward ends
  Extra gathered_updates;              // all weights that ZeRO-1 and 2 gather; 0 of none
  ShardMessages messages;              // of ZeRO-3, where they have memory of their own
  std::int64_t optimizer_step = -1;    // the first at which parameters are updated
};
[[nodiscard]] ExpandedRun expanded_run(const model::ModelConfig& config, const plan::Plan& plan,
                                       const plan::Profile& profile, std::int64_t stage);

}  // namespace fourhold::predict

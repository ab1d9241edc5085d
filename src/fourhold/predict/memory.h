// What every pipeline stage of a plan holds, byte by byte: the only place that makes ledger
// entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/base/units.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/predict/allocator_replay.h"

namespace fourhold::predict {

// One stage's worst rank: the first of each sharding group, which holds the largest slices.
struct StageMemory {
  std::int64_t stage = 0;
  std::int64_t layers = 0;
  std::int64_t in_flight = 0;    // chunks whose saved activations are alive together at most
  ledger::Ledger ledger;         // compact; live_peak_bytes is what the stage allocates
  std::int64_t state_bytes = 0;  // device bytes of weights, gradients, master, optimizer state
  std::int64_t fixed_bytes = 0;  // state and the buffers no batch size changes
  std::int64_t host_bytes = 0;   // state kept in host memory
};

// A replay by the profile's rules, and what the last step has reserved by either rule for the
// inputs of collectives (plan::DeferredCollectives): runs of one plan were seen with both.
struct AllocatorPrediction : AllocatorReplay {
  std::int64_t immediate_bytes = 0;
  std::int64_t deferred_bytes = 0;
};

struct MemoryPrediction {
  std::vector<StageMemory> stages;
  std::int64_t peak_stage = 0;  // holds most
  Bytes allocated_bytes;        // live peak of that stage
  Bytes reserved_bytes;         // as the profile reserves: a share, a replay, or one arena
  Bytes device_bytes;           // reserved and the runtime's own
  Bytes needed_bytes;  // the least with which it runs, and the runtime's own: what verdicts
                       // and searches compare with the device. A caching allocator that
                       // meets the end of the device gives back what it does not use
  std::optional<AllocatorPrediction> allocator;  // of the peak stage, where the profile has one
  Bytes startup_bytes;                           // while the model is loaded, a line of its own
  Bytes host_bytes;                              // state of the worst rank in host memory
  Bytes host_staging_bytes;     // beside it: pinned buffers, and activations that are kept there
  Bytes host_activation_bytes;  // of them the activations
  [[nodiscard]] Bytes on_host() const { return host_bytes + host_staging_bytes; }
  [[nodiscard]] const StageMemory& worst() const {
    return stages[static_cast<std::size_t>(peak_stage)];
  }
};

// Predicts all stages of a (valid) plan. Throws Error only where sizes leave 64 bits.
// WithLedger::no leaves the ledgers' entries out (their peaks are there): for searches over many
// plans. It places and replays nothing either: where the profile reserves by placement (fourhold),
// reserved_bytes is then the live peak, which no arena is below, and a search must ask again with
// the ledger before it keeps a plan. Where it has a caching allocator, reserved_bytes is then what
// needed_bytes counts; that is the same in both.
enum class WithLedger : std::uint8_t { yes, no };
[[nodiscard]] MemoryPrediction predict_memory(const model::ModelConfig& config,
                                              const plan::Plan& plan, const plan::Profile& profile,
                                              WithLedger with_ledger = WithLedger::yes);

// Replays one stage of a plan whose profile has a caching allocator, over the micro-batches after
// which its schedule repeats itself, on a device that gives the allocator `capacity_bytes`.
[[nodiscard]] AllocatorPrediction replay_stage(
    const model::ModelConfig& config, const plan::Plan& plan, const plan::Profile& profile,
    std::int64_t stage, std::int64_t capacity_bytes = CachingAllocator::kUnlimited);

// The allocator's figures on a device with that much usable memory. Where the replay without a
// limit passes it though needed_bytes does not, the replay is run again within it; where that runs
// out of memory, all of the device is reserved.
void limit_reserved(const model::ModelConfig& config, const plan::Plan& plan,
                    const plan::Profile& profile, Bytes usable_bytes, MemoryPrediction& memory);

// Micro-batches after which a schedule repeats itself: past the ramp and one full period every
// later moment holds what an earlier one held. At most grad_accum.
[[nodiscard]] std::int64_t representative_micro_batches(const plan::Plan& plan);

// The plan with that many micro-batches.
[[nodiscard]] plan::Plan representative_plan(const plan::Plan& plan);

// The plan with as few micro-batches as an arena must be placed for. On one stage micro-batches
// between the first and the last lie where the second does. In a pipeline several are alive
// together and each has a place of its own: an arena is placed for all of them
// (docs/design/02-programs-and-arenas.md).
[[nodiscard]] plan::Plan arena_plan(const plan::Plan& plan);

}  // namespace fourhold::predict

// Which of the three things is wrong, and what to change: every answer is tried by predicting again
// with that one change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/predict/memory.h"

namespace fourhold::predict {

enum class VerdictClass : std::uint8_t {
  fits,
  state_does_not_fit,
  activations_do_not_fit,
  fits_but_takes_too_long,
};
// "state_does_not_fit": the enumerator.
[[nodiscard]] std::string_view to_string(VerdictClass verdict);

// What the plan may use.
struct Capacity {
  Bytes usable_bytes{};               // of one device, before the runtime's own
  std::optional<Bytes> host_bytes{};  // per device; absent: not checked
  std::int64_t devices_per_node = 1;
  double headroom = 0;  // share of usable_bytes that must stay free
  // Where a node's host memory is given as one amount: its devices in use share it, and host_bytes
  // is a share.
  std::optional<Bytes> node_host_bytes{};
  std::int64_t host_sharers = 1;  // most devices that share it
};
// The same with the host's share that a device has when `devices` are in use.
[[nodiscard]] Capacity over_devices(const Capacity& capacity, std::int64_t devices);

// What of usable_bytes a plan may fill.
[[nodiscard]] Bytes budget_of(const Capacity& capacity);
// "" without headroom, else " (10% headroom)": stands behind every budget that is printed.
[[nodiscard]] std::string headroom_text(const Capacity& capacity);

// What a plan lacks of each memory, per device; 0: it fits there.
struct Shortfall {
  Bytes device;
  Bytes host;  // 0 too where the host is not checked

  [[nodiscard]] bool none() const { return device == Bytes(0) && host == Bytes(0); }
};
[[nodiscard]] Shortfall shortfall_of(const MemoryPrediction& memory, const Capacity& capacity);
// The scarcer memory's lack as a share of what may be used there: bytes of a device and of a host
// are not alike, shares are.
[[nodiscard]] double share_of(const Shortfall& shortfall, const Capacity& capacity);

// A change that does the rest, and the plan with both.
struct SecondChange {
  std::string change;
  plan::Plan plan;
};

// One change to the plan, with what it saves on the worst device of the memory that is short, and
// where it leads.
struct Answer {
  std::string change;  // "ZeRO-3 on 8 devices", "micro-batch 2 x 4 accumulation steps"
  plan::Plan plan;     // the plan with this change
  Bytes saves_bytes;
  std::optional<double> costs_time_percent;  // not known without the time model
  VerdictClass then_class = VerdictClass::fits;
  Bytes then_host_lacks{};                  // of the host's memory, per device, with this change
  std::optional<SecondChange> then_change;  // with it it fits; absent: not needed, or none known
};

struct Verdict {
  VerdictClass verdict = VerdictClass::fits;
  std::string reason;           // "", "host_memory", "headroom", "startup"
  std::string explanation;      // one sentence for people
  Bytes missing_bytes;          // of the memory the verdict is about: the host's where the reason
                                // is host_memory, else the device's; 0 when it fits
  Shortfall shortfall;          // of both
  std::vector<Answer> answers;  // cheapest first; empty when it fits
};

// The class alone. State and fixed buffers too big: a state failure (its own replica on every
// device, so more replicas do not help); otherwise too big at this batch: an activation failure.
[[nodiscard]] VerdictClass classify(const MemoryPrediction& memory, const Capacity& capacity);

[[nodiscard]] constexpr bool fits(VerdictClass verdict) {
  return verdict == VerdictClass::fits || verdict == VerdictClass::fits_but_takes_too_long;
}

// The one figure that answers print of a plan: what the device holds where it fits, with what a
// caching allocator keeps for later; where it does not, the least that would do.
[[nodiscard]] inline Bytes shown_bytes(const MemoryPrediction& memory, VerdictClass verdict) {
  return fits(verdict) ? memory.device_bytes : memory.needed_bytes;
}

// The class with its reason and answers for a (valid) plan whose memory is `memory`.
[[nodiscard]] Verdict decide(const model::ModelConfig& config, const plan::Plan& plan,
                             const plan::Profile& profile, const MemoryPrediction& memory,
                             const Capacity& capacity);

}  // namespace fourhold::predict

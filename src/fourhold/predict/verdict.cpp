#include "fourhold/predict/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/predict/answers.h"

namespace fourhold::predict {
namespace {

// The stage that holds most whatever the batch is.
const StageMemory& fullest_stage(const MemoryPrediction& memory) {
  return *std::max_element(
      memory.stages.begin(), memory.stages.end(),
      [](const StageMemory& a, const StageMemory& b) { return a.fixed_bytes < b.fixed_bytes; });
}

// Its fixed part, as it stands on the device.
Bytes fixed_on_device(const MemoryPrediction& memory) {
  return Bytes(fullest_stage(memory).fixed_bytes) + (memory.device_bytes - memory.reserved_bytes);
}

std::string state_sentence(const plan::Plan& plan, const MemoryPrediction& memory,
                           const Capacity& capacity) {
  const Bytes usable = budget_of(capacity);
  const Bytes state = Bytes(fullest_stage(memory).state_bytes);
  const std::string of = format_bytes(usable) + headroom_text(capacity);
  const std::string sizes =
      state > usable
          ? fmt::format("the state alone takes {} of {}", format_bytes(state), of)
          : fmt::format("the state takes {} and the buffers that every batch needs {} of {}",
                        format_bytes(state), format_bytes(fixed_on_device(memory) - state), of);
  if (plan.dp * plan.cp == 1) {
    return sizes +
           ": a smaller batch does not help, and more replicas do not help either, each "
           "device would hold the same full copy; split the state itself";
  }
  const std::int64_t ranks = plan.dp * plan.cp;
  if (plan.shard_groups > 1 && plan.zero == 3) {
    return fmt::format(
        "{} although ZeRO-3 splits it over {}: each of the {} shard groups holds all of "
        "it; fewer groups split it over more devices",
        sizes, counted(ranks / plan.shard_groups, "device"), plan.shard_groups);
  }
  if (plan.shard_groups > 1) {
    return fmt::format(
        "{}: each of the {} replicas holds what ZeRO-{} does not split, and each of the {} shard "
        "groups all that it does; split more of the state, over fewer groups",
        sizes, ranks, plan.zero, plan.shard_groups);
  }
  if (plan.zero == 3) {
    return fmt::format(
        "{} although ZeRO-3 splits it over {} devices: more devices, or another "
        "split beside it",
        sizes, ranks);
  }
  return fmt::format(
      "{}: each of the {} replicas holds what ZeRO-{} does not split, so more "
      "replicas do not help; split more of the state",
      sizes, ranks, plan.zero);
}

// What to try in turn where activations do not fit, without what is done already.
std::string_view next_steps(const plan::Plan& plan) {
  const plan::RecomputePolicy& policy = plan.recompute;
  const bool all_again = policy.kind == plan::RecomputeKind::full && policy.full_layers < 0;
  if (plan.micro_batch > 1) {
    return all_again ? "a smaller micro-batch first, then a split of each replica"
                     : "a smaller micro-batch first, then recomputation";
  }
  if (!all_again) {
    return "one sequence at a time already, so recompute first, then split each replica";
  }
  return plan.loss_chunk == 0 ? "one sequence at a time and all recomputed already, so make the "
                                "loss in chunks first, then split each replica"
                              : "one sequence at a time and all recomputed already, so split each "
                                "replica over more devices, or shorten the sequence";
}

std::string host_sentence(const MemoryPrediction& memory, const Capacity& capacity) {
  const Bytes activations = memory.host_activation_bytes;
  const std::string share =
      fmt::format("a device's share of host memory is {:.1f} GB", capacity.host_bytes->gb());
  if (memory.host_bytes == Bytes(0)) {
    return fmt::format("the activations moved to host memory take {:.1f} GB, {}", activations.gb(),
                       share);
  }
  const std::string beside =
      activations > Bytes(0) ? fmt::format(", activations {:.1f} GB", activations.gb()) : "";
  return fmt::format(
      "the state moved to host memory takes {:.1f} GB and its pinned buffers {:.1f} GB{}, {}; on "
      "NVMe it needs {:.1f} GB there and the pinned buffers stay in host memory",
      memory.host_bytes.gb(), (memory.host_staging_bytes - activations).gb(), beside, share,
      memory.host_bytes.gb());
}

// "43.84 GiB of 79.10 GiB", and what lies between that and the bytes that decide.
std::string fit_sentence(const MemoryPrediction& memory, const Capacity& capacity) {
  std::string text = fmt::format("{} of {}{}", format_bytes(memory.device_bytes),
                                 format_bytes(budget_of(capacity)), headroom_text(capacity));
  if (memory.needed_bytes < memory.device_bytes) {
    text += fmt::format(
        "; it runs with {}: the other {} are blocks that the allocator keeps, and gives back where "
        "the device is full",
        format_bytes(memory.needed_bytes), format_bytes(memory.device_bytes - memory.needed_bytes));
  } else if (memory.needed_bytes > memory.device_bytes) {
    text += fmt::format("; judged with {} more, which allocators of such runs were seen to lose",
                        format_bytes(memory.needed_bytes - memory.device_bytes));
  }
  return text;
}

}  // namespace

Bytes budget_of(const Capacity& capacity) {
  const double share = 1.0 - capacity.headroom;
  return Bytes(static_cast<std::int64_t>(
      std::floor(static_cast<double>(capacity.usable_bytes.count()) * share)));
}

std::string headroom_text(const Capacity& capacity) {
  return capacity.headroom > 0 ? fmt::format(" ({:.3g}% headroom)", capacity.headroom * 100) : "";
}

Capacity over_devices(const Capacity& capacity, std::int64_t devices) {
  Capacity shared = capacity;
  if (capacity.node_host_bytes) {
    shared.host_bytes =
        Bytes(capacity.node_host_bytes->count() / std::min(devices, capacity.host_sharers));
  }
  return shared;
}

Shortfall shortfall_of(const MemoryPrediction& memory, const Capacity& capacity) {
  Shortfall lack;
  const Bytes budget = budget_of(capacity);
  if (memory.needed_bytes > budget) lack.device = memory.needed_bytes - budget;
  const Bytes host = memory.on_host();
  if (capacity.host_bytes && host > *capacity.host_bytes) lack.host = host - *capacity.host_bytes;
  return lack;
}

double share_of(const Shortfall& shortfall, const Capacity& capacity) {
  const auto share = [](Bytes lack, Bytes of) {
    return static_cast<double>(lack.count()) /
           static_cast<double>(std::max<std::int64_t>(1, of.count()));
  };
  return std::max(share(shortfall.device, budget_of(capacity)),
                  share(shortfall.host, capacity.host_bytes.value_or(Bytes(0))));
}

std::string_view to_string(VerdictClass verdict) {
  constexpr std::array<std::string_view, 4> texts{
      "fits", "state_does_not_fit", "activations_do_not_fit", "fits_but_takes_too_long"};
  return texts[static_cast<std::size_t>(verdict)];
}

VerdictClass classify(const MemoryPrediction& memory, const Capacity& capacity) {
  const Bytes budget = budget_of(capacity);
  if (shortfall_of(memory, capacity).host > Bytes(0)) return VerdictClass::state_does_not_fit;
  if (memory.needed_bytes <= budget) return VerdictClass::fits;
  return fixed_on_device(memory) > budget ? VerdictClass::state_does_not_fit
                                          : VerdictClass::activations_do_not_fit;
}

Verdict decide(const model::ModelConfig& config, const plan::Plan& plan,
               const plan::Profile& profile, const MemoryPrediction& memory,
               const Capacity& capacity) {
  Verdict verdict;
  verdict.verdict = classify(memory, capacity);
  const Bytes usable = budget_of(capacity);
  const Bytes fixed = fixed_on_device(memory);
  verdict.shortfall = shortfall_of(memory, capacity);
  verdict.missing_bytes = verdict.shortfall.device;
  switch (verdict.verdict) {
    case VerdictClass::state_does_not_fit:
      if (fixed <= usable) {
        verdict.reason = "host_memory";
        verdict.missing_bytes = verdict.shortfall.host;
        verdict.explanation = host_sentence(memory, capacity);
        if (verdict.shortfall.device > Bytes(0)) {
          verdict.explanation +=
              fmt::format("; the device lacks {} as well", format_bytes(verdict.shortfall.device));
        }
      } else {
        verdict.explanation = state_sentence(plan, memory, capacity);
        if (verdict.shortfall.host > Bytes(0)) {
          verdict.explanation += fmt::format("; a device's share of host memory lacks {} as well",
                                             format_bytes(verdict.shortfall.host));
        }
      }
      break;
    case VerdictClass::activations_do_not_fit:
      verdict.explanation = fmt::format(
          "the state fits, but with the activations of micro-batch {} x {} tokens {} are needed of "
          "{}{}: {}",
          plan.micro_batch, plan.seq, format_bytes(memory.needed_bytes), format_bytes(usable),
          headroom_text(capacity), next_steps(plan));
      break;
    case VerdictClass::fits:
    case VerdictClass::fits_but_takes_too_long:
      verdict.explanation = fit_sentence(memory, capacity);
      break;
  }
  // Within the device, but not with what the user wants kept free.
  if (verdict.verdict != VerdictClass::fits && verdict.reason.empty() &&
      memory.needed_bytes <= capacity.usable_bytes) {
    verdict.reason = "headroom";
  }
  if (verdict.verdict == VerdictClass::fits) {
    if (memory.startup_bytes > usable) {
      verdict.reason = "startup";
      verdict.explanation += fmt::format(
          "; but loading holds {} on each rank unless weights are made or loaded sharded",
          format_bytes(memory.startup_bytes));
    }
    return verdict;
  }
  verdict.answers = find_answers(config, plan, profile, memory, capacity, verdict.verdict,
                                 verdict.reason == "host_memory" ? ShortOf::host : ShortOf::device);
  return verdict;
}

}  // namespace fourhold::predict

#include "fourhold/predict/changes.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/validate.h"

namespace fourhold::predict {
namespace {

using plan::Offload;
using plan::Optimizer;
using plan::Plan;

// Most devices an answer proposes to spread one replica's state over.
constexpr std::int64_t kMostDevices = 1024;
// Devices that are counted one by one, as they may stand in one machine; from there on by doubling.
constexpr std::int64_t kCountedSingly = 8;

// Whether that alone cures.
bool fewer_shard_groups(Trials& trials) {
  Trials::Kind kind(trials);
  bool cures = false;
  const std::int64_t ranks = trials.plan.dp * trials.plan.cp;
  std::vector<std::int64_t> counts = plan::divisors(ranks / trials.plan.ep);
  std::reverse(counts.begin(), counts.end());
  for (const std::int64_t groups : counts) {
    if (groups >= trials.plan.shard_groups) continue;
    Plan changed = trials.plan;
    changed.shard_groups = groups;
    cures = kind.offer(fmt::format("shard groups {} instead of {}: ZeRO-{} over {} devices", groups,
                                   trials.plan.shard_groups, trials.plan.zero, ranks / groups),
                       changed);
    if (cures) break;
  }
  kind.keep();
  return cures;
}

// "the 8 replicas there are", "8 devices": those that share one copy of the state.
std::string replicas_there_are(const Plan& plan) {
  const std::int64_t sharing = plan.dp * plan.cp / plan.shard_groups;
  return plan.shard_groups > 1 ? fmt::format("the {} replicas of each shard group", sharing)
                               : fmt::format("the {} replicas there are", sharing);
}
std::string devices_text(const Plan& plan) {
  const std::string devices = fmt::format("{} devices", plan.devices());
  return plan.shard_groups > 1 ? fmt::format("{} in {} shard groups", devices, plan.shard_groups)
                               : devices;
}

// `cured`: on the devices there are, by fewer groups.
void shard_state(Trials& trials, bool cured) {
  const auto first = static_cast<std::ptrdiff_t>(trials.answers.size());
  bool cured_here = false;  // on the devices there are: nothing beats that
  for (int zero = std::max(trials.plan.zero, 1); zero <= 3 && !cured_here; ++zero) {
    Trials::Kind kind(trials);
    if (trials.plan.dp * trials.plan.cp > trials.plan.shard_groups) {
      Plan changed = trials.plan;
      changed.zero = zero;
      if (zero > trials.plan.zero &&
          kind.offer(fmt::format("ZeRO-{} over {}", zero, replicas_there_are(trials.plan)),
                     changed)) {
        kind.keep();
        cured_here = true;
        continue;
      }
    }
    // More devices on the same split: each one holds a smaller part, and runs its own
    // micro-batch.
    for (std::int64_t sharing = 2; sharing <= kMostDevices;
         sharing += sharing < kCountedSingly ? 1 : sharing) {
      const std::int64_t replicas = sharing * trials.plan.shard_groups;
      if (replicas <= trials.plan.dp || cured) continue;
      Plan changed = trials.plan;
      changed.zero = zero;
      changed.dp = replicas;
      changed.global_batch = changed.micro_batch * changed.grad_accum * replicas;
      if (kind.offer(fmt::format("ZeRO-{} over {}", zero, devices_text(changed)), changed)) {
        break;
      }
    }
    kind.keep();
  }
  // What cures first; fewer devices cost less than less traffic.
  std::stable_sort(trials.answers.begin() + first, trials.answers.end(),
                   [&trials](const Answer& a, const Answer& b) {
                     if (trials.progress(a) != trials.progress(b))
                       return trials.progress(a) > trials.progress(b);
                     return a.plan.devices() < b.plan.devices();
                   });
}

void offload(Trials& trials) {
  Trials::Kind kind(trials);
  for (const Offload offload : {Offload::optimizer, Offload::optimizer_gradients, Offload::all}) {
    if (static_cast<int>(offload) <= static_cast<int>(trials.plan.offload)) continue;
    Plan changed = trials.plan;
    changed.offload = offload;
    const std::string what{plan::kOffloadNames[static_cast<std::size_t>(offload)]};
    if (kind.offer("offload " + what + " to host memory", changed)) break;
  }
  kind.keep();
}

// Only where the device has room for what comes back.
void offload_less(Trials& trials) {
  Trials::Kind kind(trials);
  for (const Offload offload : {Offload::optimizer_gradients, Offload::optimizer, Offload::none}) {
    if (static_cast<int>(offload) >= static_cast<int>(trials.plan.offload)) continue;
    Plan changed = trials.plan;
    changed.offload = offload;
    const std::string what{plan::kOffloadNames[static_cast<std::size_t>(offload)]};
    if (!kind.offer("offload " + what + " instead of more", changed)) continue;
    kind.keep();
    return;
  }
}

void keep_activations_here(Trials& trials) {
  if (trials.plan.activation_offload == plan::ActivationOffload::none) return;
  Trials::Kind kind(trials);
  Plan changed = trials.plan;
  changed.activation_offload = plan::ActivationOffload::none;
  kind.offer("activations on the device, not on the host", changed);
  kind.keep();
}

void smaller_optimizer_state(Trials& trials) {
  if (trials.plan.optimizer != Optimizer::adamw) return;
  Trials::Kind kind(trials);
  Plan changed = trials.plan;
  changed.optimizer = Optimizer::adamw_8bit;
  changed.first_moment = plan::MomentFormat::automatic;
  changed.second_moment = plan::MomentFormat::automatic;
  kind.offer("8-bit AdamW: moments in one byte each", changed);
  kind.keep();
}

void train_adapters(Trials& trials) {
  if (trials.plan.tuning != plan::Tuning::full) return;
  Trials::Kind kind(trials);
  Plan changed = trials.plan;
  changed.tuning = plan::Tuning::lora;
  changed.lora_rank = plan::kDefaultLoraRank;
  const auto text = [&changed](std::string_view name, std::string_view frozen) {
    return fmt::format("{} of rank {} (fine-tuning): the base is frozen{}", name, changed.lora_rank,
                       frozen);
  };
  if (!kind.offer(text("LoRA", ""), changed)) {
    changed.tuning = plan::Tuning::qlora;
    kind.offer(text("QLoRA", " in 4 bits"), changed);
  }
  kind.keep();
}

}  // namespace

void spread_state(Trials& trials) {
  shard_state(trials, fewer_shard_groups(trials));
  split_tensors(trials);
  split_layers(trials);
}

void shrink_state(Trials& trials) {
  if (trials.short_of == ShortOf::host) {
    keep_activations_here(trials);
    offload_less(trials);
  } else {
    offload(trials);
  }
  smaller_optimizer_state(trials);
  train_adapters(trials);
}

}  // namespace fourhold::predict

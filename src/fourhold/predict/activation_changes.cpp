#include "fourhold/predict/changes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::predict {
namespace {

using plan::Plan;
using plan::RecomputeKind;

// Tokens of a proposed chunk of head and loss.
constexpr std::int64_t kLossChunk = 1024;

void smaller_micro_batch(Trials& trials) {
  Trials::Kind kind(trials);
  for (std::int64_t micro_batch = trials.plan.micro_batch - 1; micro_batch >= 1; --micro_batch) {
    if (trials.plan.micro_batch % micro_batch != 0) continue;  // the global batch stays what it is
    Plan changed = trials.plan;
    changed.micro_batch = micro_batch;
    changed.grad_accum = trials.plan.grad_accum * (trials.plan.micro_batch / micro_batch);
    if (kind.offer(fmt::format("micro-batch {} x {} accumulation steps, the same global batch",
                               micro_batch, changed.grad_accum),
                   changed)) {
      break;
    }
  }
  kind.keep();
}

// Where a profile saves by name: the set that saves most of those that are enough.
void save_less(Trials& trials) {
  Trials::Kind kind(trials);
  for (const std::string_view set : plan::saved_set_names()) {
    Plan changed = trials.plan;
    changed.recompute = plan::recompute_from_string(set);
    if (kind.offer(
            fmt::format("recompute {}: all of a layer again in backward but what that saves", set),
            changed)) {
      break;
    }
  }
  kind.keep();
}

// The fewest layers that are enough, where fewer than all are: each saves the same, so one count
// of them is found by halving.
void recompute_partly(Trials& trials, Plan changed) {
  const std::vector<std::int64_t> layout =
      plan::canonical_layout(trials.config.layer_count(), trials.plan.pp * trials.plan.vpp);
  const std::int64_t most = *std::max_element(layout.begin(), layout.end()) * trials.plan.vpp;
  std::int64_t enough = most;  // as full
  std::optional<Answer> least;
  for (std::int64_t short_of = 0; enough - short_of > 1;) {
    const std::int64_t layers = short_of + (enough - short_of) / 2;
    changed.recompute.full_layers = layers;
    std::optional<Answer> answer = trials.attempt(
        fmt::format("recompute full:{0}: the first {1} of each device's again in backward", layers,
                    counted(layers, "layer")),
        changed);
    const bool fits = answer && answer->then_class == VerdictClass::fits;
    (fits ? enough : short_of) = layers;
    if (fits) least = std::move(answer);
  }
  if (least) trials.answers.push_back(std::move(*least));
}

void recompute(Trials& trials) {
  if (trials.plan.recompute.kind == RecomputeKind::full && trials.plan.recompute.full_layers < 0)
    return;
  const bool by_groups = trials.profile.recompute_choice == plan::RecomputeChoice::groups;
  if (trials.plan.recompute.kind == RecomputeKind::none && by_groups) {
    Trials::Kind selective(trials);
    Plan changed = trials.plan;
    changed.recompute = plan::recompute_from_string("selective");
    selective.offer("recompute selective: the attention core again in backward", changed);
    selective.keep();
  }
  if (!by_groups) save_less(trials);
  Plan changed = trials.plan;
  changed.recompute = plan::recompute_from_string("full");
  Trials::Kind full(trials);
  const bool cures = full.offer(
      "recompute full: every layer again in backward, about a third more compute", changed);
  if (cures && by_groups) recompute_partly(trials, changed);
  full.keep();
}

void chunk_loss(Trials& trials) {
  if (trials.plan.loss_chunk > 0 ||
      trials.plan.micro_batch * trials.plan.seq / trials.plan.cp <= kLossChunk)
    return;
  Trials::Kind kind(trials);
  Plan changed = trials.plan;
  changed.loss_chunk = kLossChunk;
  kind.offer(fmt::format("loss in chunks of {} tokens: logits never stand whole", kLossChunk),
             changed);
  kind.keep();
}

}  // namespace

void shrink_activations(Trials& trials) {
  smaller_micro_batch(trials);
  recompute(trials);
  chunk_loss(trials);
}

std::optional<Answer> cure_on_the_same_devices(Trials trials) {
  shrink_activations(trials);
  for (Answer& answer : trials.answers) {
    if (answer.then_class == VerdictClass::fits) return std::move(answer);
  }
  return std::nullopt;
}

}  // namespace fourhold::predict

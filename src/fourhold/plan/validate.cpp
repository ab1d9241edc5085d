#include "fourhold/plan/validate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/field_value.h"
#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/plan_fields.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/schedule.h"

namespace fourhold::plan {
namespace {

void check_profile(const Plan& plan, const Profile& profile) {
  // A profile's word for it, the field of a plan that asks for it, and what that is.
  struct Use {
    std::string_view split;
    std::string_view field;
    std::string_view what;
    bool used;
  };
  const std::array<Use, kSplitNames.size()> uses{
      {{"tp", "tp", "tp", plan.tp > 1},
       {"sp", "sp", "sp", plan.sp && plan.tp > 1},
       {"pp", "pp", "pp", plan.pp > 1},
       {"vpp", "vpp", "vpp", plan.vpp > 1},
       {"cp", "cp", "cp", plan.cp > 1},
       {"ep", "ep", "ep", plan.ep > 1},
       {"offload", "offload", "offload", plan.offload != Offload::none},
       {"mtp", "prediction_layers", "multi-token prediction", plan.prediction_layers > 0},
       {"hsdp", "shard_groups", "shard groups (HSDP)", plan.shard_groups > 1}}};
  std::vector<std::string_view> able;
  for (const Use& use : uses) {
    if (profile.can(use.split)) able.push_back(use.field);
  }
  for (const Use& use : uses) {
    if (!use.used || profile.can(use.split)) continue;
    refuse(plan, use.field, fmt::format("profile '{}' has no {}", profile.name, use.what),
           able.empty() ? "it can only replicate and shard: leave it out, or choose another profile"
                        : fmt::format("it has {}; leave it out, or choose another profile",
                                      fmt::join(able, ", ")));
  }
  if (plan.cp > 1 && !model::is_fused(profile.switches.attention)) {
    refuse(plan, "cp",
           fmt::format("context parallelism needs fused attention, which profile '{}' lacks",
                       profile.name),
           "use cp 1, or another profile");
  }
  const std::vector<int>& stages = profile.zero_stages;
  if (std::find(stages.begin(), stages.end(), plan.zero) == stages.end()) {
    const std::vector<std::int64_t> legal(stages.begin(), stages.end());
    refuse(plan, "zero", fmt::format("profile '{}' has no stage {}", profile.name, plan.zero),
           fmt::format("it has stage {}", list_text(legal)));
  }
}

void check_schedule(const Plan& plan) {
  if (plan.vpp > 1 && plan.pp == 1) {
    refuse(plan, "vpp", fmt::format("{} chunks per stage need a pipeline, but pp is 1", plan.vpp),
           "use vpp 1, or pp of at least 2");
  }
  const bool interleaved = plan.schedule == ScheduleKind::interleaved;
  if (interleaved && plan.vpp == 1) {
    refuse(plan, "schedule", "interleaved needs more than one chunk per stage, but vpp is 1",
           "use schedule 1f1b, or vpp of at least 2");
  }
  if (!interleaved && plan.vpp > 1) {
    const auto name = kScheduleNames[static_cast<std::size_t>(plan.schedule)];
    refuse(plan, "schedule",
           fmt::format("{} runs one chunk per stage, but vpp is {}", name, plan.vpp),
           "use schedule interleaved, or vpp 1");
  }
  if (interleaved && plan.grad_accum % plan.pp != 0) {
    refuse(
        plan, "grad_accum",
        fmt::format("interleaved runs micro-batches in rounds of pp = {}, but there are {}",
                    plan.pp, plan.grad_accum),
        fmt::format("use {} micro-batches", to_string(multiples_around(plan.grad_accum, plan.pp))));
  }
}

// What belongs to a split that is not there would change nothing.
void check_splits_in_use(const Plan& plan) {
  if (plan.sp && plan.tp == 1) {
    refuse(plan, "sp", "shares among tensor-parallel ranks what they hold alike, but tp is 1",
           "use tp of at least 2, or leave sp out");
  }
  if (plan.schedule == ScheduleKind::gpipe && plan.pp == 1) {
    refuse(plan, "schedule", "gpipe is an order of micro-batches in a pipeline, but pp is 1",
           "use pp of at least 2, or leave schedule out");
  }
}

// A pipeline's time is replayed forward by forward.
void check_schedule_length(const Plan& plan) {
  const std::int64_t stages = saturating_product({plan.pp, plan.vpp});
  const std::int64_t forwards = saturating_product({stages, plan.grad_accum});
  if (plan.pp == 1 || forwards <= kMostPipelineForwards) return;
  // Interleaving takes multiples of pp only.
  const std::int64_t step = plan.schedule == ScheduleKind::interleaved ? plan.pp : 1;
  const std::int64_t most = kMostPipelineForwards / stages / step * step;
  refuse(plan, "grad_accum",
         fmt::format("pp x vpp x grad_accum = {} x {} x {} micro-batches through stages are more "
                     "than the {} that are replayed",
                     plan.pp, plan.vpp, plan.grad_accum, kMostPipelineForwards),
         most > 0 ? fmt::format("use grad_accum of at most {}, with a larger micro_batch", most)
                  : std::string("use a smaller pp or vpp"));
}

[[noreturn]] void refuse_layout(const Plan& plan, const std::string& fault, std::int64_t layers) {
  const auto stages = plan.pp * plan.vpp;
  refuse(plan, "layers_per_stage", fault,
         fmt::format("for {} of {}: --layers-per-stage {}", counted(stages, "stage"),
                     counted(layers, "layer"), fmt::join(canonical_layout(layers, stages), ",")));
}

// Embedding and head may stand alone on their stage; what is between them has a layer. The engine's
// stages all have one.
void check_empty_stages(const Plan& plan, const Profile& profile, std::int64_t layers) {
  const std::vector<std::int64_t>& layout = plan.layers_per_stage;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] > 0) continue;
    if (i > 0 && i + 1 < layout.size()) {
      refuse_layout(plan, fmt::format("has no layer on virtual stage {}", i), layers);
    }
    if (profile.kernel_scratch == KernelScratch::engine) {
      refuse_layout(plan,
                    fmt::format("has a stage without layers: profile {} has none", profile.name),
                    layers);
    }
  }
}

void check_layout(const Plan& plan, const Profile& profile, std::int64_t layers) {
  const std::int64_t stages = saturating_product({plan.pp, plan.vpp});
  if (stages > layers) {
    refuse(plan, plan.vpp > 1 ? "vpp" : "pp",
           fmt::format("pp x vpp = {} x {} = {} stages are more than the model's {}", plan.pp,
                       plan.vpp, stages, counted(layers, "layer")),
           fmt::format("use pp x vpp of at most {}", layers));
  }
  const std::vector<std::int64_t>& layout = plan.layers_per_stage;
  if (static_cast<std::int64_t>(layout.size()) != stages) {
    refuse_layout(plan,
                  fmt::format("names {}, but pp x vpp is {}",
                              counted(static_cast<std::int64_t>(layout.size()), "stage"), stages),
                  layers);
  }
  check_empty_stages(plan, profile, layers);
  // In range each, and no more than `layers` of them: the sum cannot overflow.
  const std::int64_t sum = std::accumulate(layout.begin(), layout.end(), std::int64_t{0});
  if (sum != layers) {
    refuse_layout(plan,
                  fmt::format("adds up to {}, but the model has {}", counted(sum, "layer"), layers),
                  layers);
  }
}

void check_shard_groups(const Plan& plan) {
  if (plan.shard_groups == 1) return;
  if (plan.zero == 0) {
    refuse(plan, "shard_groups", "each hold what ZeRO shards, but zero is 0",
           "use zero of at least 1, or leave shard_groups out");
  }
  // Experts are shared by fewer ranks; what splits those splits the others.
  const std::int64_t ranks = plan.dp * plan.cp / plan.ep;
  if (ranks % plan.shard_groups == 0) return;
  const std::vector<std::int64_t> legal = divisors(ranks);
  refuse(plan, "shard_groups",
         fmt::format("{} does not divide dp x cp / ep = {} x {} / {} = {}", plan.shard_groups,
                     plan.dp, plan.cp, plan.ep, ranks),
         fmt::format("use shard_groups {}{}", nearest_text(legal, plan.shard_groups),
                     legal.size() > 2 ? fmt::format("; legal are {}", list_text(legal)) : ""));
}

void check_prediction(const Plan& plan) {
  if (plan.prediction_layers == 0) return;
  if (plan.tuning != Tuning::full) {
    refuse(plan, "prediction_layers", "are trained whole, but tuning is with adapters",
           "use tuning full, or prediction_layers 0");
  }
  if (plan.loss_chunk > 0) {
    refuse(plan, "prediction_layers", "have losses of whole logits, but loss_chunk is set",
           "use loss_chunk 0, or prediction_layers 0");
  }
  if (plan.prediction_layers >= plan.seq) {
    refuse(plan, "prediction_layers",
           fmt::format("is {}, but a sequence of {} tokens has nothing so far ahead",
                       plan.prediction_layers, plan.seq),
           fmt::format("the nearest valid value is {}; or use longer sequences", plan.seq - 1));
  }
}

// Layers of the fullest rank, over its chunks.
std::int64_t most_layers_of_a_rank(const Plan& plan) {
  std::vector<std::int64_t> layers(static_cast<std::size_t>(plan.pp), 0);
  for (std::size_t i = 0; i < plan.layers_per_stage.size(); ++i) {
    layers[i % layers.size()] += plan.layers_per_stage[i];
  }
  return *std::max_element(layers.begin(), layers.end());
}

void check_recompute_choice(const Plan& plan, const Profile& profile) {
  const RecomputePolicy& policy = plan.recompute;
  if (profile.recompute_choice == RecomputeChoice::groups) {
    if (policy.kind != RecomputeKind::saved) return;
    refuse(plan, "recompute",
           fmt::format("profile '{}' has no layers made again but for {}", profile.name,
                       to_string(policy)),
           "use none, selective, full or full:K, or a profile that saves by name, as maxtext");
  }
  if (policy.kind != RecomputeKind::selective && policy.full_layers < 0) return;
  refuse(plan, "recompute", fmt::format("profile '{}' has no {}", profile.name, to_string(policy)),
         fmt::format("use none, full, save:NAME,... or {}", fmt::join(saved_set_names(), ", ")));
}

void check_recompute(const Plan& plan, const model::ModelConfig& config) {
  const RecomputePolicy& policy = plan.recompute;
  const std::int64_t most = most_layers_of_a_rank(plan);
  if (policy.full_layers > most) {
    refuse(plan, "recompute",
           fmt::format("{} names more layers than a rank has: {}", to_string(policy), most),
           fmt::format("the nearest valid value is full, which is {}{}",
                       most == 1 ? "its one layer" : fmt::format("all {}", most),
                       most == 1   ? ""
                       : most == 2 ? "; or full:1"
                                   : fmt::format("; or full:1 to full:{}", most - 1)));
  }
  const bool has_experts =
      std::any_of(config.kinds.begin(), config.kinds.end(), [](const model::LayerKind& kind) {
        return kind.feed_forward.kind == model::FeedForwardKind::experts;
      });
  if (policy.drops(model::RecomputeGroup::experts) && !has_experts) {
    refuse(plan, "recompute", "the model has no experts to recompute", "name others of the groups");
  }
}

// Only one micro-batch at a time is in flight without a pipeline: one copy per layer on the host.
void check_activation_offload(const Plan& plan, const Profile& profile) {
  if (plan.activation_offload == ActivationOffload::none) return;
  if (!profile.can("offload")) {
    refuse(plan, "activation_offload", fmt::format("profile '{}' has no offload", profile.name),
           "leave it out, or choose another profile");
  }
  if (plan.pp > 1) {
    refuse(plan, "activation_offload",
           fmt::format("is known without a pipeline only, but pp is {}", plan.pp),
           "use pp 1, or leave it out");
  }
}

}  // namespace

void check_moments(const Plan& plan) {
  const bool first = plan.first_moment != MomentFormat::automatic;
  const bool second = plan.second_moment != MomentFormat::automatic;
  if (!first && !second) return;
  const auto refuse_for = [&plan](std::string_view field, std::string_view why) {
    refuse(plan, field,
           fmt::format("is given, but {} {}",
                       kOptimizerNames[static_cast<std::size_t>(plan.optimizer)], why),
           "leave it out, or use optimizer adamw");
  };
  switch (plan.optimizer) {
    case Optimizer::adamw:
    case Optimizer::muon:
      return;
    case Optimizer::adamw_8bit:
      refuse_for(first ? "first_moment" : "second_moment", "keeps both moments in 8 bits");
      return;
    case Optimizer::adafactor:
      refuse_for(first ? "first_moment" : "second_moment", "keeps rows and columns of one moment");
      return;
    case Optimizer::lion:
    case Optimizer::sgd_momentum:
      if (second) refuse_for("second_moment", "has no second moment");
      return;
  }
}

void refuse(const Plan& plan, std::string_view field, const std::string& fault,
            const std::string& hint) {
  throw Error(std::string(field), fmt::format("{} (plan: {})", fault, to_string(plan)), hint);
}

void refuse_size(const Plan& plan) {
  const bool long_sequence = plan.seq >= plan.micro_batch;
  refuse(plan, long_sequence ? "seq" : "micro_batch",
         fmt::format("seq x micro_batch x grad_accum = {} x {} x {} tokens make sizes that leave "
                     "the 64-bit range",
                     plan.seq, plan.micro_batch, plan.grad_accum),
         fmt::format("use a smaller {}", long_sequence ? "seq" : "micro_batch"));
}

void check_ranges(const Plan& plan) {
  visit_fields(
      [](const FieldInfo& info, const auto& value) {
        auto checked = value;
        read_field(field_json(value), std::string(info.name), info, checked);
      },
      plan);
  const std::int64_t devices = saturating_product({plan.tp, plan.pp, plan.cp, plan.dp});
  if (devices > kCountField.range.most) {
    refuse(plan, "dp",
           fmt::format("tp x pp x cp x dp = {} devices are more than {}", devices,
                       kCountField.range.most),
           "use smaller degrees");
  }
}

void refuse_batch(const Plan& plan, BatchStep step) {
  const bool by_accumulation = step == BatchStep::grad_accum;
  const std::string_view known = by_accumulation ? "grad_accum" : "micro_batch";
  const std::string_view follows = by_accumulation ? "micro_batch" : "grad_accum";
  const std::int64_t value = by_accumulation ? plan.grad_accum : plan.micro_batch;
  const std::int64_t unit = saturating_product({value, plan.dp});
  const Neighbours near = multiples_around(plan.global_batch, unit);
  std::string hint =
      near.below.has_value() ? "the nearest legal batches are " : "the nearest legal batch is ";
  if (near.below.has_value()) {
    hint += fmt::format("{} ({} {}) or ", *near.below, follows, *near.below / unit);
  }
  hint += fmt::format("{} ({} {})", near.above, follows, near.above / unit);
  refuse(
      plan, "global_batch",
      fmt::format("{} is not a multiple of {} x dp = {} x {} = {}: {} % {} = {}", plan.global_batch,
                  known, value, plan.dp, unit, plan.global_batch, unit, plan.global_batch % unit),
      hint);
}

void validate(const Plan& plan, const model::ModelConfig& config, const Profile& profile) {
  check_ranges(plan);
  check_profile(plan, profile);
  check_schedule(plan);
  check_splits_in_use(plan);
  check_layout(plan, profile, config.layer_count());
  check_schedule_length(plan);
  check_model(plan, config);
  const std::int64_t product = saturating_product({plan.micro_batch, plan.grad_accum, plan.dp});
  if (product != plan.global_batch) {
    if (plan.global_batch % saturating_product({plan.micro_batch, plan.dp}) != 0) {
      refuse_batch(plan, BatchStep::micro_batch);
    }
    refuse(plan, "global_batch",
           fmt::format("{} is not micro_batch x grad_accum x dp = {} x {} x {} = {}",
                       plan.global_batch, plan.micro_batch, plan.grad_accum, plan.dp, product),
           fmt::format("use global_batch {}, or grad_accum {}", product,
                       plan.global_batch / (plan.micro_batch * plan.dp)));
  }
  check_recompute_choice(plan, profile);
  check_recompute(plan, config);
  check_moments(plan);
  check_activation_offload(plan, profile);
  check_prediction(plan);
  check_shard_groups(plan);
  check_tuning(plan, config);
  static_cast<void>(index_of_name(plan.isa, "isa", kIsaNames));
}

}  // namespace fourhold::plan

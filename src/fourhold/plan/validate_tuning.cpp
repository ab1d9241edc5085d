// Whether what a plan says of adapters agrees with itself and with the model.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/plan/compute_type.h"
#include "fourhold/plan/lora_targets.h"
#include "fourhold/plan/validate.h"

namespace fourhold::plan {
namespace {

using model::AdapterTargets;
using model::TrainedModules;

void check_all_trained(const Plan& plan) {
  const auto refuse_if = [&plan](bool given, std::string_view field, const char* fault) {
    if (given) refuse(plan, field, fault, "set tuning to lora or qlora, or leave it out");
  };
  if (plan.lora_rank > 0) {
    refuse(plan, "lora_rank", fmt::format("is {}, but all weights are trained", plan.lora_rank),
           "set tuning to lora or qlora, or lora_rank to 0");
  }
  refuse_if(!(plan.lora_targets == AdapterTargets::all()), "lora_targets",
            "names linears with adapters, but all weights are trained");
  refuse_if(plan.lora_dropout > 0, "lora_dropout", "is of adapters, but all weights are trained");
  refuse_if(plan.base_precision != BasePrecision::automatic, "base_precision",
            "is of frozen weights, but all weights are trained");
  refuse_if(plan.modules_to_save != TrainedModules::none, "modules_to_save",
            "adds to adapters, but all weights are trained already");
}

void check_base(const Plan& plan) {
  const auto name = kBasePrecisionNames[static_cast<std::size_t>(plan.base_precision)];
  if (plan.tuning == Tuning::lora && is_quantised(plan.base_precision)) {
    refuse(plan, "base_precision", fmt::format("{} is quantised, which is qlora", name),
           "use tuning qlora, or base_precision auto");
  }
  if (plan.base_precision == BasePrecision::automatic || is_quantised(plan.base_precision)) return;
  if (plan.tuning == Tuning::qlora) {
    refuse(plan, "base_precision", fmt::format("{} is not quantised, but tuning is qlora", name),
           "use nf4, nf4-dq or int8, or tuning lora");
  }
  const std::string_view compute = fourhold::to_string(compute_type(plan.precision));
  if (plan.base_precision != BasePrecision::fp32 && name != compute) {
    refuse(plan, "base_precision", fmt::format("{} weights are not read in {}", name, compute),
           fmt::format("use {}, fp32 or auto, or set precision to {}", compute, name));
  }
}

std::string there_text(const model::ModelConfig& config, const AdapterTargets& there) {
  const bool experts =
      std::any_of(config.kinds.begin(), config.kinds.end(), [](const model::LayerKind& kind) {
        return kind.feed_forward.kind == model::FeedForwardKind::experts;
      });
  return fmt::format("the model has {}{}", to_string(there),
                     experts ? "; adapters beside routed experts are not counted" : "");
}

// all-linear is whatever the model has; another preset may name what only other models have, if it
// names something that is there; a list names what is there.
void check_targets(const Plan& plan, const model::ModelConfig& config) {
  if (plan.lora_targets == AdapterTargets::all()) return;
  const AdapterTargets there = adapter_targets_of(config);
  const bool any = plan.lora_targets.contains_any_of(there);
  const bool list = to_string(plan.lora_targets).find(',') != std::string::npos;
  for (std::size_t i = 0; i < model::kAdapterTargetNames.size(); ++i) {
    const auto target = static_cast<model::AdapterTarget>(i);
    if (there.contains(target) || !plan.lora_targets.contains(target) || (any && !list)) continue;
    refuse(plan, "lora_targets",
           fmt::format("names {}, which no layer of this model has", model::kAdapterTargetNames[i]),
           there_text(config, there));
  }
  if (!any) {
    refuse(plan, "lora_targets", "names nothing: there would be no adapters",
           there_text(config, there));
  }
}

}  // namespace

void check_tuning(const Plan& plan, const model::ModelConfig& config) {
  if (plan.tuning == Tuning::full) {
    check_all_trained(plan);
    return;
  }
  if (plan.lora_rank == 0) {
    refuse(plan, "lora_rank", "is 0: the adapters would be empty", "use for example 8, 16 or 64");
  }
  if (plan.lora_rank > config.hidden) {
    refuse(plan, "lora_rank",
           fmt::format("is {}, but the model is {} wide: more is no low rank", plan.lora_rank,
                       config.hidden),
           fmt::format("the nearest value is {}; 8 to 256 are usual", config.hidden));
  }
  check_base(plan);
  check_targets(plan, config);
  const bool one_end = plan.modules_to_save == TrainedModules::embedding ||
                       plan.modules_to_save == TrainedModules::head;
  if (config.tied && one_end) {
    refuse(plan, "modules_to_save", "names one end of a tied embedding: both are one table",
           "use embedding+head, or none");
  }
}

}  // namespace fourhold::plan

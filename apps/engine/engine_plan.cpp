#include "apps/engine/engine_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/optimizer/hyperparameters.h"
#include "fourhold/plan/recompute_policy.h"

namespace fourhold::engine_app {
namespace {

constexpr const char* kElsewhere =
    "; `predict` and `plan` know the frameworks that have it (--profile)";

void refuse_degree(std::optional<std::int64_t> asked, std::int64_t none, const char* flag,
                   const char* what) {
  if (asked.value_or(none) == none) return;
  throw Error(flag, fmt::format("is {}, but the engine has no {}", *asked, what),
              fmt::format("leave it out, or give {} {}{}", flag, none, kElsewhere));
}

template <class Choice>
void refuse_offload(const std::optional<Choice>& asked, const char* flag, const char* what) {
  if (asked.value_or(Choice::none) == Choice::none) return;
  throw Error(flag, fmt::format("the engine keeps {} in one memory and offloads nothing", what),
              fmt::format("leave it out, or give {} none{}", flag, kElsewhere));
}

void refuse_moment(const std::optional<plan::MomentFormat>& asked, const char* flag) {
  const plan::MomentFormat format = asked.value_or(plan::MomentFormat::automatic);
  if (format == plan::MomentFormat::automatic || format == plan::MomentFormat::fp32) return;
  throw Error(flag, "is planned below fp32, but the engine updates fp32 moments only",
              "leave it out, or use fp32");
}

}  // namespace

void require_engine_request(const plan::PlanRequest& request) {
  refuse_degree(request.ep, 1, "--ep", "expert parallelism");
  refuse_degree(request.shard_groups, 1, "--shard-groups",
                "groups of ranks that each hold all shards: ZeRO shards over all of dp x cp");
  refuse_degree(request.prediction_layers, 0, "--prediction-layers", "multi-token prediction");
  refuse_offload(request.offload, "--offload", "the state");
  refuse_offload(request.activation_offload, "--activation-offload", "activations");
  if (request.recompute && request.recompute->kind == plan::RecomputeKind::saved) {
    throw Error(
        "--recompute",
        fmt::format("is {}, but the engine saves nothing by name", to_string(*request.recompute)),
        "use none, selective, full or full:K");
  }
  refuse_moment(request.first_moment, "--first-moment");
  refuse_moment(request.second_moment, "--second-moment");
  if (request.tuning.value_or(plan::Tuning::full) != plan::Tuning::full) {
    throw Error("--tuning", "adapters are planned, but the engine does not run them",
                "train them with Hugging Face PEFT or LitGPT, whose bytes `fourhold predict` knows "
                "by --profile peft or litgpt; or train all weights here: --tuning full");
  }
  engine::check_runs(request.optimizer.value_or(plan::Plan{}.optimizer),
                     request.precision.value_or(plan::Plan{}.precision));
}

void require_engine_plan(const plan::Plan& plan) {
  if (plan.devices() > 1 || plan.zero < 2) return;
  throw Error("--zero", fmt::format("{} shards over ranks, and there is one", plan.zero),
              "leave it out, or give --zero 0");
}

bool is_engine_plan(const plan::Plan& plan) {
  try {
    require_engine_request(plan::whole_request(plan));
    require_engine_plan(plan);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace fourhold::engine_app

#include "fourhold/engine/launch/fewer_ranks.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/engine/launch/option_words.h"

namespace fourhold::engine {
namespace {

bool allows(const plan::Plan& plan, std::int64_t dp) {
  const std::int64_t micro_batches = plan.dp * plan.grad_accum;  // of a step, all replicas
  if (micro_batches % dp != 0) return false;
  if ((dp * plan.cp) % plan.ep != 0) return false;
  if (plan.zero >= 2 && dp * plan.cp == 1) return false;
  return plan.vpp == 1 || (micro_batches / dp) % plan.pp == 0;
}

}  // namespace

std::optional<plan::Plan> plan_for_ranks(const plan::Plan& plan, std::int64_t ranks) {
  const std::int64_t replica = plan.devices() / plan.dp;
  for (std::int64_t dp = std::min(ranks / replica, plan.dp - 1); dp >= 1; --dp) {
    if (!allows(plan, dp)) continue;
    plan::Plan fewer = plan;
    fewer.dp = dp;
    fewer.grad_accum = plan.dp * plan.grad_accum / dp;
    return fewer;
  }
  return std::nullopt;
}

void set_replicas(std::vector<std::string>& words, const plan::Plan& plan) {
  set_option(words, "--dp", fmt::format("{}", plan.dp));
  set_option(words, "--grad-accum", fmt::format("{}", plan.grad_accum));
  set_option(words, "--count", fmt::format("{}", plan.devices()));
}

}  // namespace fourhold::engine

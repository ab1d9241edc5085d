// What a model's shapes allow: heads, widths, experts, sequence.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/validate.h"

namespace fourhold::plan {
namespace {

struct Width {
  std::string_view name;
  std::int64_t size = 0;
};

// Widths that tp splits, in the order of the layers' kinds. The vocabulary is not one: it is
// padded.
std::vector<Width> split_widths(const model::ModelConfig& config) {
  std::vector<Width> widths;
  for (const model::LayerKind& kind : config.kinds) {
    const model::FeedForward& ffn = kind.feed_forward;
    if (ffn.kind == model::FeedForwardKind::dense) {
      widths.push_back({"feed-forward width", ffn.width});
    } else if (ffn.kind == model::FeedForwardKind::experts) {
      widths.push_back({"width of an expert", ffn.expert_width});
      if (ffn.shared_width > 0) widths.push_back({"width of the shared experts", ffn.shared_width});
    }
  }
  return widths;
}

const Width* first_undivided(const std::vector<Width>& widths, std::int64_t tp) {
  const auto found = std::find_if(widths.begin(), widths.end(),
                                  [tp](const Width& width) { return width.size % tp != 0; });
  return found == widths.end() ? nullptr : &*found;
}

// "use tp 2 or 4; tp may be 1, 2, 4 or 8; 16 or 32 with each key-value head on several devices
// ...": the nearest first.
std::string tensor_hint(const TensorDegrees& degrees, const std::vector<Width>& widths,
                        std::int64_t tp) {
  const auto divides_widths = [&widths](std::int64_t degree) {
    return first_undivided(widths, degree) == nullptr;
  };
  std::vector<std::int64_t> clean;
  std::vector<std::int64_t> replicated;
  std::copy_if(degrees.clean.begin(), degrees.clean.end(), std::back_inserter(clean),
               divides_widths);
  std::copy_if(degrees.replicated.begin(), degrees.replicated.end(), std::back_inserter(replicated),
               divides_widths);
  std::vector<std::int64_t> legal;
  std::merge(clean.begin(), clean.end(), replicated.begin(), replicated.end(),
             std::back_inserter(legal));
  constexpr std::string_view kOnSeveral = "with each key-value head on several devices";
  std::string hint =
      fmt::format("use tp {}; tp may be {}", nearest_text(legal, tp), list_text(clean));
  if (!replicated.empty()) hint += fmt::format("; {} {}", list_text(replicated), kOnSeveral);
  for (const std::int64_t degree : degrees.replicated) {
    if (const Width* width = first_undivided(widths, degree)) {
      hint += fmt::format("; {} {} if it divided the {} {}", degree, kOnSeveral, width->name,
                          width->size);
    }
  }
  return hint + "; or split the layers with pp";
}

void check_tensor(const Plan& plan, const model::ModelConfig& config) {
  if (plan.tp == 1) return;
  const TensorDegrees degrees = tensor_degrees(config);
  const std::vector<Width> widths = split_widths(config);
  for (const model::LayerKind& kind : config.kinds) {
    const model::Attention& attention = kind.attention;
    if (attention.kind != model::AttentionKind::heads &&
        attention.kind != model::AttentionKind::latent) {
      continue;
    }
    if (attention.heads % plan.tp != 0) {
      refuse(plan, "tp",
             fmt::format("{} does not divide the {} attention heads", plan.tp, attention.heads),
             tensor_hint(degrees, widths, plan.tp));
    }
    const bool grouped = attention.kind == model::AttentionKind::heads;
    if (grouped && attention.kv_heads % plan.tp != 0 && plan.tp % attention.kv_heads != 0) {
      refuse(plan, "tp",
             fmt::format("{} neither divides the {} key-value heads nor is a multiple of them",
                         plan.tp, attention.kv_heads),
             tensor_hint(degrees, widths, plan.tp));
    }
  }
  if (const Width* width = first_undivided(widths, plan.tp)) {
    refuse(plan, "tp",
           fmt::format("{} does not divide the {} {}", plan.tp, width->name, width->size),
           tensor_hint(degrees, widths, plan.tp));
  }
}

void check_experts(const Plan& plan, const model::ModelConfig& config) {
  if (plan.ep == 1) return;
  std::int64_t experts = 0;  // greatest common divisor over the layers that have any
  for (const model::LayerKind& kind : config.kinds) {
    if (kind.feed_forward.kind == model::FeedForwardKind::experts) {
      experts = std::gcd(experts, kind.feed_forward.experts);
    }
  }
  if (experts == 0) {
    refuse(plan, "ep", fmt::format("is {}, but the model has no experts", plan.ep), "use ep 1");
  }
  const std::int64_t group = plan.dp * plan.cp;
  const std::vector<std::int64_t> legal = divisors(std::gcd(experts, group));
  const std::string hint =
      fmt::format("use ep {}; it must divide the {} experts and dp x cp = {}: it may be {}",
                  nearest_text(legal, plan.ep), experts, group, list_text(legal));
  if (experts % plan.ep != 0) {
    refuse(plan, "ep",
           fmt::format("{} does not divide the {} experts: {} % {} = {}", plan.ep, experts, experts,
                       plan.ep, experts % plan.ep),
           hint);
  }
  if (group % plan.ep != 0) {
    refuse(plan, "ep",
           fmt::format("{} does not divide dp x cp = {} x {} = {}: {} % {} = {}", plan.ep, plan.dp,
                       plan.cp, group, group, plan.ep, group % plan.ep),
           hint);
  }
}

// The longest sequence a learned table has rows for; opt keeps rows that no position uses.
std::int64_t learned_positions(const model::ModelConfig& config) {
  if (config.position != model::PositionKind::learned) return 0;
  if (config.max_positions > 0) return std::min(config.max_positions, config.position_rows);
  return config.position_rows;
}

void check_sequence(const Plan& plan, const model::ModelConfig& config) {
  if (const std::int64_t limit = learned_positions(config); limit > 0 && plan.seq > limit) {
    refuse(plan, "seq",
           fmt::format("{} is longer than the model's learned positions: {}", plan.seq, limit),
           fmt::format("use at most {}", limit));
  }
  // Causal work is balanced by giving each rank an early and a late piece: 2 cp pieces.
  const std::int64_t pieces = 2 * plan.cp;
  if (plan.cp > 1 && plan.seq % pieces != 0) {
    refuse(plan, "seq",
           fmt::format("{} tokens do not split into 2 x cp = 2 x {} = {} equal pieces", plan.seq,
                       plan.cp, pieces),
           fmt::format("use seq {}; texts may be padded, but no token dropped",
                       to_string(multiples_around(plan.seq, pieces))));
  }
  const std::int64_t local = plan.seq / plan.cp;
  if (plan.sp && local % plan.tp != 0) {
    const std::int64_t unit = std::lcm(plan.cp > 1 ? pieces : 1, plan.tp * plan.cp);
    refuse(
        plan, "seq",
        fmt::format("sequence parallelism splits seq / cp = {} tokens over tp = {}: {} % {} = {}",
                    local, plan.tp, local, plan.tp, local % plan.tp),
        fmt::format("use seq {}, or sp off", to_string(multiples_around(plan.seq, unit))));
  }
}

}  // namespace

void check_model(const Plan& plan, const model::ModelConfig& config) {
  check_tensor(plan, config);
  check_experts(plan, config);
  check_sequence(plan, config);
}

}  // namespace fourhold::plan

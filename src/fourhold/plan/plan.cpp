#include "fourhold/plan/plan.h"

#include <cstddef>
#include <numeric>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/plan/compute_type.h"
#include "fourhold/plan/legal_values.h"

namespace fourhold::plan {
namespace {

int master_bytes(Precision precision) {
  switch (precision) {
    case Precision::bf16:
    case Precision::fp16:
      return 4;
    case Precision::bf16_split:
    case Precision::bf16_kahan:
      return 2;
    case Precision::fp32:
    case Precision::bf16_sr:
    case Precision::bf16_pure:
      return 0;
  }
  return 0;
}

bool has_heads(const model::Attention& attention) {
  return attention.kind == model::AttentionKind::heads ||
         attention.kind == model::AttentionKind::latent;
}

// Latent attention makes k and v for every head.
std::int64_t kv_heads_of(const model::Attention& attention) {
  return attention.kind == model::AttentionKind::latent ? attention.heads : attention.kv_heads;
}

}  // namespace

std::vector<std::int64_t> canonical_layout(std::int64_t layers, std::int64_t stages) {
  if (stages > layers) {
    throw Error("pp", fmt::format("{} stages are more than the {} layers", stages, layers),
                fmt::format("use pp x vpp of at most {}", layers));
  }
  const std::int64_t most = ceil_divide(layers, stages);
  std::vector<std::int64_t> layout(static_cast<std::size_t>(stages), most);
  std::size_t front = 0;
  std::size_t back = layout.size();
  std::int64_t excess = most * stages - layers;  // below `stages`
  for (; excess > 0; --excess) {
    const bool from_back = front == layout.size() - back;  // last, first, last but one, second ...
    --layout[from_back ? --back : front++];
  }
  return layout;
}

Recipe recipe_of(const Plan& plan, const Profile& profile) {
  const DType compute = compute_type(plan.precision);
  Recipe recipe{.compute = compute,
                .weight = compute,
                .gathered = compute,
                .gradient = compute,
                .block_gradient = compute,
                .master_bytes = master_bytes(plan.precision),
                .optimizer = plan.optimizer};
  const bool mixed = plan.precision == Precision::bf16 || plan.precision == Precision::fp16;
  if (mixed && profile.weight_storage == WeightStorage::fp32_only) {
    recipe.weight = DType::fp32;
    recipe.gradient = DType::fp32;
    recipe.master_bytes = 0;
  }
  if (profile.fp32_gradients || plan.gradient_accumulation == GradientAccumulation::fp32) {
    recipe.gradient = DType::fp32;
  }
  recipe.host_gradient = profile.fp32_host_gradients ? DType::fp32 : recipe.gradient;
  if (profile.weight_storage == WeightStorage::compute_only && mixed) {
    recipe.master_bytes = 0;
    recipe.moment = compute;
    recipe.fp8_layer_weights = profile.product_weights == ProductWeights::kept &&
                               profile.time.products == ProductFormat::fp8;
  }
  const bool says_first = plan.first_moment != MomentFormat::automatic;
  const bool says_second = plan.second_moment != MomentFormat::automatic;
  recipe.first_moment = says_first ? plan.first_moment : profile.first_moment;
  recipe.second_moment = says_second ? plan.second_moment : profile.second_moment;
  recipe.base = base_precision_of(plan);
  recipe.adapters = profile.adapter_storage;
  return recipe;
}

BasePrecision base_precision_of(const Plan& plan) {
  if (plan.base_precision != BasePrecision::automatic) return plan.base_precision;
  if (plan.tuning == Tuning::qlora) return BasePrecision::nf4;
  switch (compute_type(plan.precision)) {
    case DType::fp32:
      return BasePrecision::fp32;
    case DType::fp16:
      return BasePrecision::fp16;
    default:
      return BasePrecision::bf16;
  }
}

model::Switches switches_of(const Plan& plan, const Profile& profile) {
  model::Switches switches = profile.switches;
  switches.compute = compute_type(plan.precision);
  switches.loss_chunk = plan.loss_chunk;
  switches.prediction_layers = plan.prediction_layers;
  if (plan.tuning != Tuning::full) {
    switches.adapters = model::Adapters::lora;
    switches.lora_rank = plan.lora_rank;
    switches.lora_targets = plan.lora_targets;
    switches.lora_dropout = plan.lora_dropout > 0;
    switches.trained_modules = plan.modules_to_save;
    const BasePrecision base = base_precision_of(plan);
    switches.quantised_base = is_quantised(base);
    if (base == BasePrecision::int8) {
      switches.frozen_cast = model::FrozenCast::backward;
    } else if (switches.quantised_base ||
               (base == BasePrecision::fp32 && switches.compute != DType::fp32)) {
      switches.frozen_cast = model::FrozenCast::both;
    }
  }
  return switches;
}

TensorDegrees tensor_degrees(const model::ModelConfig& config) {
  std::int64_t heads = 0;  // greatest common divisor over the layers
  for (const model::LayerKind& kind : config.kinds) {
    if (has_heads(kind.attention)) heads = std::gcd(heads, kind.attention.heads);
  }
  TensorDegrees degrees;
  // Without heads nothing in attention is split: any degree; the widths decide.
  if (heads == 0) heads = config.hidden;
  for (const std::int64_t tp : divisors(heads)) {
    bool clean = true;
    bool possible = true;
    for (const model::LayerKind& kind : config.kinds) {
      if (!has_heads(kind.attention)) continue;
      const std::int64_t kv_heads = kv_heads_of(kind.attention);
      if (kv_heads % tp == 0) continue;
      clean = false;
      possible = possible && tp % kv_heads == 0;
    }
    if (clean) degrees.clean.push_back(tp);
    if (!clean && possible) degrees.replicated.push_back(tp);
  }
  return degrees;
}

}  // namespace fourhold::plan

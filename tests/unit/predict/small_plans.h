// Small models and random legal plans for tests of memory.
#pragma once

#include <rapidcheck.h>

#include <optional>
#include <string>
#include <vector>

#include "fourhold/model/hf_config.h"
#include "fourhold/plan/lora_targets.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/validate.h"

namespace fourhold::test {

inline std::string small_config(const std::string& family) {
  const std::string llama =
      R"("hidden_size":16,"intermediate_size":24,"num_attention_heads":4,"num_key_value_heads":2,)"
      R"("num_hidden_layers":6,"vocab_size":40,"max_position_embeddings":64)";
  if (family == "gpt2") {
    return R"({"model_type":"gpt2","n_embd":16,"n_layer":5,"n_head":4,"n_positions":64,)"
           R"("vocab_size":40})";
  }
  if (family == "mixtral") {
    return R"({"model_type":"mixtral","num_local_experts":4,"num_experts_per_tok":2,)" + llama +
           "}";
  }
  if (family == "gemma2") {
    return R"({"model_type":"gemma2","head_dim":8,)" + llama + "}";
  }
  if (family == "deepseek_v2") {
    return R"({"model_type":"deepseek_v2","q_lora_rank":6,"kv_lora_rank":8,"qk_nope_head_dim":4,)"
           R"("qk_rope_head_dim":2,"v_head_dim":4,"n_routed_experts":4,"n_shared_experts":1,)"
           R"("num_experts_per_tok":2,"moe_intermediate_size":8,"first_k_dense_replace":1,)"
           R"("hidden_size":16,"intermediate_size":24,"num_attention_heads":4,)"
           R"("num_key_value_heads":4,"num_hidden_layers":6,"vocab_size":40})";
  }
  return R"({"model_type":"llama",)" + llama + "}";
}

inline model::ModelConfig small_model(const std::string& family) {
  return model::read_hf_config(small_config(family), family);
}

template <class T>
T pick(const std::vector<T>& values) {
  return *rc::gen::elementOf(values);
}

inline void draw_adapters(plan::Plan& plan) {
  plan.lora_rank = 2;
  plan.lora_targets = plan::lora_targets_from_string(
      pick<std::string>({"all-linear", "all-linear", "attention", "q", "mlp"}));
  plan.lora_dropout = pick<int>({0, 1}) * 0.05;
  plan.modules_to_save = pick<model::TrainedModules>(
      {model::TrainedModules::none, model::TrainedModules::none, model::TrainedModules::embedding,
       model::TrainedModules::head, model::TrainedModules::embedding_head});
  plan.base_precision =
      plan.tuning == plan::Tuning::qlora
          ? pick<plan::BasePrecision>({plan::BasePrecision::automatic, plan::BasePrecision::nf4_dq,
                                       plan::BasePrecision::int8})
          : pick<plan::BasePrecision>({plan::BasePrecision::automatic, plan::BasePrecision::fp32});
}

// A random plan of that model, or nothing when the draw is not legal.
inline std::optional<plan::Plan> drawn_plan(const model::ModelConfig& config,
                                            const plan::Profile& profile) {
  plan::Plan plan;
  plan.profile = profile.name;
  plan.seq = pick<std::int64_t>({16, 32});
  plan.tp = pick<std::int64_t>({1, 1, 2, 4});
  plan.sp = plan.tp > 1 && pick<int>({0, 1}) == 1;
  plan.pp = pick<std::int64_t>({1, 1, 2, 3, 4});
  plan.vpp = plan.pp > 1 ? pick<std::int64_t>({1, 1, 2}) : 1;
  if (plan.pp * plan.vpp > config.layer_count()) plan.vpp = 1;
  plan.cp = pick<std::int64_t>({1, 1, 2});
  plan.dp = pick<std::int64_t>({1, 2, 4});
  plan.ep = pick<std::int64_t>({1, 1, 2});
  plan.zero = pick<int>({0, 1, 2, 3});
  plan.micro_batch = pick<std::int64_t>({1, 2, 3});
  plan.grad_accum = plan.vpp > 1 ? plan.pp * pick<std::int64_t>({1, 2, 4})
                                 : pick<std::int64_t>({1, 2, 3, 5, 9, 13});
  plan.global_batch = plan.micro_batch * plan.grad_accum * plan.dp;
  plan.recompute = plan::recompute_from_string(pick<std::string>(
      {"none", "none", "selective", "selective:norm,activation", "selective:norm,mlp",
       "selective:qkv", "full", "full:1", "full:2", "minimal", "save_qkv_proj"}));
  const bool gpipe = pick<int>({0, 0, 1}) == 1 && plan.pp > 1;
  plan.schedule = plan.vpp > 1 ? plan::ScheduleKind::interleaved
                  : gpipe      ? plan::ScheduleKind::gpipe
                               : plan::ScheduleKind::one_f_one_b;
  plan.layers_per_stage = plan::canonical_layout(config.layer_count(), plan.pp * plan.vpp);
  plan.offload =
      pick<plan::Offload>({plan::Offload::none, plan::Offload::none, plan::Offload::optimizer,
                           plan::Offload::optimizer_gradients, plan::Offload::all});
  plan.activation_offload =
      pick<plan::ActivationOffload>({plan::ActivationOffload::none, plan::ActivationOffload::none,
                                     plan::ActivationOffload::residual});
  if (plan.pp > 1) plan.activation_offload = plan::ActivationOffload::none;
  plan.first_moment = pick<plan::MomentFormat>(
      {plan::MomentFormat::automatic, plan::MomentFormat::bf16, plan::MomentFormat::fp8});
  plan.second_moment =
      pick<plan::MomentFormat>({plan::MomentFormat::automatic, plan::MomentFormat::bf16});
  plan.precision = pick<plan::Precision>(
      {plan::Precision::bf16, plan::Precision::fp32, plan::Precision::bf16_split});
  plan.loss_chunk = pick<std::int64_t>({0, 0, 8});
  plan.prediction_layers = pick<std::int64_t>({0, 0, 1, 2});
  plan.shard_groups = pick<std::int64_t>({1, 1, 2});
  plan.tuning = pick<plan::Tuning>(
      {plan::Tuning::full, plan::Tuning::full, plan::Tuning::lora, plan::Tuning::qlora});
  if (plan.tuning != plan::Tuning::full) draw_adapters(plan);
  try {
    plan::validate(plan, config, profile);
  } catch (const Error&) {
    return std::nullopt;
  }
  return plan;
}

// The first legal one of many draws: some profiles have few of the splits, and a property gives up
// when most of its draws are discarded. Nothing where there seems to be none.
inline std::optional<plan::Plan> random_plan(const model::ModelConfig& config,
                                             const plan::Profile& profile) {
  constexpr int kMostDraws = 100;
  std::optional<plan::Plan> plan;
  for (int draw = 0; draw < kMostDraws && !plan; ++draw) plan = drawn_plan(config, profile);
  return plan;
}

}  // namespace fourhold::test

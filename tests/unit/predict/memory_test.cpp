// Memory against numbers from outside: papers' equations, a paper's table, measured runs.
#include "fourhold/predict/memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fourhold/model/hf_config.h"
#include "fourhold/model/load_model.h"
#include "fourhold/predict/fit.h"

namespace fourhold {
namespace {

plan::Plan plan_for(const model::ModelConfig& config, plan::Plan plan) {
  plan.layers_per_stage = plan::canonical_layout(config.layer_count(), plan.pp * plan.vpp);
  if (plan.vpp > 1) plan.schedule = plan::ScheduleKind::interleaved;
  plan.global_batch = plan.micro_batch * plan.grad_accum * plan.dp;
  return plan;
}

// Bytes of one layer's kept tensors. The equations leave out the norms' statistics (8 bytes per
// token and norm), which stand as entries of their own.
std::int64_t kept_by_layer(const predict::MemoryPrediction& memory) {
  std::int64_t bytes = 0;
  for (const ledger::Entry& entry : memory.worst().ledger.entries) {
    const bool statistics = entry.key.name.find("statistics") != std::string_view::npos;
    if (entry.key.block != "layer" || statistics) continue;
    if (entry.category == ledger::Category::saved_activation) bytes += entry.bytes.count();
  }
  return bytes;
}

struct KorthikantiModel {
  std::int64_t heads, hidden, layers, micro_batch, tp;
};
// Table 3 of Korthikanti 2022 (arXiv 2205.05198): 22B, 175B (GPT-3), 530B (MT-NLG), 1T; s = 2048.
const std::vector<KorthikantiModel> kKorthikanti{
    {64, 6144, 48, 4, 8}, {96, 12288, 96, 1, 8}, {128, 20480, 105, 1, 8}, {160, 25600, 128, 1, 8}};

model::ModelConfig gpt(const KorthikantiModel& size) {
  return model::read_hf_config(
      R"({"model_type":"gpt2","n_positions":2048,"vocab_size":51200,"n_embd":)" +
          std::to_string(size.hidden) + R"(,"n_layer":)" + std::to_string(size.layers) +
          R"(,"n_head":)" + std::to_string(size.heads) + "}",
      "gpt");
}

plan::Profile unfused() {
  plan::Profile profile = plan::load_profile("standard");
  profile.switches.attention = model::AttentionSaving::unfused;
  return profile;
}

enum class Split { none, tensor, tensor_sequence };

std::int64_t predicted(const KorthikantiModel& size, Split split, const char* recompute) {
  const model::ModelConfig config = gpt(size);
  plan::Plan plan;
  plan.seq = 2048;
  plan.micro_batch = size.micro_batch;
  plan.tp = split == Split::none ? 1 : size.tp;
  plan.sp = split == Split::tensor_sequence;
  plan.recompute = plan::recompute_from_string(recompute);
  return kept_by_layer(predict::predict_memory(config, plan_for(config, plan), unfused()));
}

TEST(Korthikanti, equation_1_holds_to_the_byte_without_parallelism) {
  for (const KorthikantiModel& m : kKorthikanti) {
    // s b h (34 + 5 a s / h)
    const std::int64_t sbh = 2048 * m.micro_batch * m.hidden;
    EXPECT_EQ(predicted(m, Split::none, "none"),
              34 * sbh + 5 * m.heads * 2048 * 2048 * m.micro_batch);
  }
}

TEST(Korthikanti, equation_2_holds_to_the_byte_with_tensor_parallelism) {
  for (const KorthikantiModel& m : kKorthikanti) {
    // s b h (10 + 24 / t + 5 a s / (h t))
    const std::int64_t sbh = 2048 * m.micro_batch * m.hidden;
    EXPECT_EQ(predicted(m, Split::tensor, "none"),
              10 * sbh + 24 * sbh / m.tp + 5 * m.heads * 2048 * 2048 * m.micro_batch / m.tp);
  }
}

TEST(Korthikanti, equation_4_holds_to_the_byte_with_sequence_parallelism) {
  for (const KorthikantiModel& m : kKorthikanti) {
    // s b h / t (34 + 5 a s / h)
    const std::int64_t sbh = 2048 * m.micro_batch * m.hidden;
    EXPECT_EQ(predicted(m, Split::tensor_sequence, "none"),
              (34 * sbh + 5 * m.heads * 2048 * 2048 * m.micro_batch) / m.tp);
  }
}

TEST(Korthikanti, selective_recompute_leaves_34_sbh_over_t) {
  for (const KorthikantiModel& m : kKorthikanti) {
    const std::int64_t sbh = 2048 * m.micro_batch * m.hidden;
    EXPECT_EQ(predicted(m, Split::tensor_sequence, "selective"), 34 * sbh / m.tp);
  }
}

TEST(Korthikanti, full_recompute_leaves_2_sbh) {
  for (const KorthikantiModel& m : kKorthikanti) {
    const std::int64_t sbh = 2048 * m.micro_batch * m.hidden;
    EXPECT_EQ(predicted(m, Split::none, "full"), 2 * sbh);
  }
}

TEST(ZeroPaper, holds_7_5B_on_64_devices_as_the_papers_figure_says) {
  // Figure 1 of arXiv 1910.02054: 120, 31.4, 16.6 and 1.88 GB (two or three digits).
  const plan::Recipe recipe = plan::recipe_of(plan::Plan{}, plan::load_profile("standard"));
  const auto gb = [&](int zero) {
    return predict::state_of_count(7'500'000'000, recipe, 0, zero, 64).total().gb();
  };
  EXPECT_NEAR(gb(0), 120.0, 0.05);
  EXPECT_NEAR(gb(1), 31.4, 0.05);
  EXPECT_NEAR(gb(2), 16.6, 0.05);
  EXPECT_NEAR(gb(3), 1.88, 0.005);
}

TEST(InFlight, follows_the_closed_forms_of_1f1b_interleaved_and_gpipe) {
  const model::ModelConfig config = model::load_model("gpt2");  // 12 layers
  const plan::Profile profile = plan::load_profile("standard");
  for (const std::int64_t m : {1, 2, 3, 4, 8}) {
    plan::Plan plan;
    plan.seq = 64;
    plan.pp = 4;
    plan.grad_accum = m;
    const predict::MemoryPrediction memory =
        predict::predict_memory(config, plan_for(config, plan), profile);
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(memory.stages[static_cast<std::size_t>(i)].in_flight, std::min(m, 4 - i));
    }
    plan.schedule = plan::ScheduleKind::gpipe;
    EXPECT_EQ(predict::predict_memory(config, plan_for(config, plan), profile).stages[3].in_flight,
              m);
  }
  plan::Plan plan;
  plan.seq = 64;
  plan.pp = 4;
  plan.vpp = 3;
  plan.grad_accum = 8;
  const predict::MemoryPrediction memory =
      predict::predict_memory(config, plan_for(config, plan), profile);
  for (std::int64_t i = 0; i < 4; ++i) {
    // min(m v, 2 (p - i - 1) + (v - 1) p + 1)
    EXPECT_EQ(memory.stages[static_cast<std::size_t>(i)].in_flight,
              std::min<std::int64_t>(24, 2 * (3 - i) + 8 + 1));
  }
}

// Measured peaks of Megatron-Core with TransformerEngine on B200 (MooreThreads/SimuMax,
// docs/b200, release v1.2; allocated MiB / 1024, the fullest of 8 ranks).
struct MeasuredRow {
  const char* base;
  std::int64_t layers, kv_heads, tp, pp, dp, ep;
  double measured_gib;
};

double error_percent(const model::ModelConfig& config, const MeasuredRow& row) {
  plan::Plan plan;
  plan.profile = "megatron";
  plan.seq = 4096;
  plan.tp = row.tp;
  plan.sp = row.tp > 1;
  plan.pp = row.pp;
  plan.dp = row.dp;
  plan.ep = row.ep;
  plan.grad_accum = 4;
  plan.zero = 1;
  const predict::MemoryPrediction memory =
      predict::predict_memory(config, plan_for(config, plan), plan::load_profile("megatron"));
  return 100 * (memory.allocated_bytes.gib() / row.measured_gib - 1);
}

model::ModelConfig cut_llama(const MeasuredRow& row) {
  model::ModelConfig config = model::load_model(row.base);
  config.layers.resize(static_cast<std::size_t>(row.layers));
  config.kinds[0].attention.kv_heads = row.kv_heads;
  return config;
}

TEST(MeasuredOnB200, dense_rows_are_within_0_7_percent_in_the_mean) {
  const std::vector<MeasuredRow> rows{
      {"llama-3.1-70b", 12, 8, 1, 2, 4, 1, 66.552},  {"llama-3.1-70b", 12, 8, 2, 1, 4, 1, 60.680},
      {"llama-3.1-70b", 12, 8, 4, 1, 2, 1, 39.072},  {"llama-3.1-70b", 12, 8, 8, 1, 1, 1, 28.286},
      {"llama-3.1-405b", 4, 16, 1, 2, 4, 1, 87.083}, {"llama-3.1-405b", 4, 16, 2, 1, 4, 1, 81.592},
      {"llama-3.1-405b", 4, 16, 4, 1, 2, 1, 52.889}, {"llama-3.1-405b", 4, 16, 8, 1, 1, 1, 38.574}};
  double sum = 0;
  for (const MeasuredRow& row : rows) {
    const double error = error_percent(cut_llama(row), row);
    RecordProperty(std::string(row.base) + " tp " + std::to_string(row.tp), std::to_string(error));
    sum += std::abs(error);
  }
  EXPECT_LE(sum / static_cast<double>(rows.size()), 0.7);
}

TEST(MeasuredOnB200, mixture_of_experts_rows_are_within_1_5_percent_in_the_mean) {
  // DeepSeek-V2's published sizes cut to 4 layers, the first of them dense.
  const model::ModelConfig config = model::read_hf_config(
      R"({"model_type":"deepseek_v2","hidden_size":5120,"num_hidden_layers":4,
          "num_attention_heads":128,"num_key_value_heads":128,"q_lora_rank":1536,
          "kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
          "n_routed_experts":160,"n_shared_experts":2,"num_experts_per_tok":6,
          "moe_intermediate_size":1536,"intermediate_size":12288,"first_k_dense_replace":1,
          "vocab_size":102400,"tie_word_embeddings":false})",
      "deepseek-v2");
  const std::vector<MeasuredRow> rows{{"deepseek-v2", 4, 128, 1, 1, 8, 8, 45.635},
                                      {"deepseek-v2", 4, 128, 1, 2, 4, 4, 44.703}};
  double sum = 0;
  for (const MeasuredRow& row : rows) sum += std::abs(error_percent(config, row));
  EXPECT_LE(sum / static_cast<double>(rows.size()), 1.5);
}

TEST(Memory, gives_a_tied_embedding_one_state_on_one_stage_and_two_on_two) {
  // GPT-2: 124,439,808 parameters; the table of 50,257 x 768 is copied to the last stage.
  const model::ModelConfig config = model::load_model("gpt2");
  const plan::Profile profile = plan::load_profile("standard");
  plan::Plan plan;
  plan.seq = 64;
  EXPECT_EQ(predict::predict_memory(config, plan_for(config, plan), profile).stages[0].state_bytes,
            16 * 124'439'808LL);
  plan.pp = 2;
  const predict::MemoryPrediction memory =
      predict::predict_memory(config, plan_for(config, plan), profile);
  EXPECT_EQ(memory.stages[0].state_bytes + memory.stages[1].state_bytes,
            16 * (124'439'808LL + 50'257LL * 768));
}

TEST(Memory, holds_a_second_copy_of_16_bit_gradients_where_ranks_share_data) {
  // 124,439,808 parameters of GPT-2; half of the layers and both copies of the table on two stages.
  const model::ModelConfig config = model::load_model("gpt2");
  const plan::Profile plain = plan::load_profile("standard");
  plan::Profile copies = plain;
  copies.gradient_copy = plan::GradientCopy::data_parallel;
  const auto more = [&](plan::Plan plan) {
    plan.seq = 64;
    const plan::Plan complete = plan_for(config, plan);
    return (predict::predict_memory(config, complete, copies).allocated_bytes -
            predict::predict_memory(config, complete, plain).allocated_bytes)
        .count();
  };
  plan::Plan plan;
  EXPECT_EQ(more(plan), 0);
  plan.dp = 2;
  EXPECT_EQ(more(plan), 2 * 124'439'808LL);
  plan.zero = 1;
  EXPECT_EQ(more(plan), 2 * 124'439'808LL);
  plan.zero = 2;  // gradients are reduced block by block
  EXPECT_EQ(more(plan), 0);
  plan.zero = 0;
  plan.precision = plan::Precision::fp32;
  EXPECT_EQ(more(plan), 4 * 124'439'808LL);

  copies.gradient_copy = plan::GradientCopy::whole_optimizer;
  plan = {};
  EXPECT_EQ(more(plan), 0);
  plan.dp = 2;
  EXPECT_EQ(more(plan), 2 * 124'439'808LL);
  plan.zero = 1;
  EXPECT_EQ(more(plan), 0);

  copies.gradient_copy = plan::GradientCopy::beside_fp32;
  plan = {};
  EXPECT_EQ(more(plan), 0);
  plan.gradient_accumulation = plan::GradientAccumulation::fp32;
  EXPECT_EQ(more(plan), 2 * 124'439'808LL);
}

TEST(Memory, does_not_depend_on_micro_batches_beyond_those_in_flight) {
  const model::ModelConfig config = model::load_model("llama-3.2-1b");
  const plan::Profile profile = plan::load_profile("standard");
  plan::Plan plan;
  plan.seq = 1024;
  plan.pp = 4;
  plan.grad_accum = 8;
  const Bytes eight =
      predict::predict_memory(config, plan_for(config, plan), profile).allocated_bytes;
  plan.grad_accum = 32;
  const Bytes more =
      predict::predict_memory(config, plan_for(config, plan), profile).allocated_bytes;
  EXPECT_EQ(eight.count(), more.count());
}

// Six layers of 16 columns, 16 tokens: 512 bytes enter each layer. While the head works on its
// 16 x 4000 logits all six are kept; on the host there are six, and one beside them on the device.
TEST(ActivationOffload, LeavesOneBufferOnTheDevice) {
  const model::ModelConfig config = model::read_hf_config(
      R"({"model_type":"llama","hidden_size":16,"intermediate_size":24,"num_attention_heads":4,)"
      R"("num_key_value_heads":2,"num_hidden_layers":6,"vocab_size":4000})",
      "small");
  const plan::Profile standard = plan::load_profile("standard");
  plan::Plan plan = plan_for(config, {.seq = 16});
  const predict::MemoryPrediction kept = predict::predict_memory(config, plan, standard);
  plan.activation_offload = plan::ActivationOffload::residual;
  const predict::MemoryPrediction away = predict::predict_memory(config, plan, standard);
  EXPECT_EQ(kept.allocated_bytes.count() - away.allocated_bytes.count(), 6 * 512 - 512);
  EXPECT_EQ(kept.host_staging_bytes.count(), 0);
  EXPECT_EQ(away.host_staging_bytes.count(), 6 * 512);
  EXPECT_EQ(away.host_activation_bytes.count(), 6 * 512);
  EXPECT_EQ(away.host_bytes.count(), 0);
}

// Whole ones, as llmq prints them.
std::int64_t mebibytes(const predict::MemoryPrediction& memory, ledger::Category category) {
  const ledger::CategoryBytes bytes = memory.worst().ledger.at_peak_by_category();
  return bytes[static_cast<std::size_t>(category)].count() >> 20;
}

// What llmq prints of Qwen2.5-0.5B in e4m3 with 16-bit moments (IST-DASLab/llmq, README.md,
// Allocator State): Adam 942 MiB twice, gradients 942, master 682, weights 601.
TEST(Llmq, HoldsTheStateThatItPrints) {
  const model::ModelConfig config = model::read_hf_config(
      R"({"model_type":"qwen2","hidden_size":896,"intermediate_size":4864,)"
      R"("num_attention_heads":14,"num_key_value_heads":2,"num_hidden_layers":24,)"
      R"("vocab_size":151936,"tie_word_embeddings":true})",
      "qwen2.5-0.5b");
  plan::Profile profile = plan::load_profile("llmq");
  profile.time.products = plan::ProductFormat::fp8;
  profile.zero_stages.insert(profile.zero_stages.begin(), 0);
  const predict::MemoryPrediction memory =
      predict::predict_memory(config, plan_for(config, {.seq = 1024}), profile);
  EXPECT_EQ(mebibytes(memory, ledger::Category::optimizer_state), 2 * 942);
  EXPECT_EQ(mebibytes(memory, ledger::Category::gradient), 942);
  EXPECT_EQ(mebibytes(memory, ledger::Category::master_weight), 682);
  EXPECT_EQ(mebibytes(memory, ledger::Category::weight), 601);
}

}  // namespace
}  // namespace fourhold

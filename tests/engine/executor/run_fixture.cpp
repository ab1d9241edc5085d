#include "tests/engine/executor/run_fixture.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "fourhold/plan/validate.h"
#include "fourhold/predict/expanded_ledger.h"
#include "fourhold/predict/memory.h"

namespace fourhold::engine::testing {
namespace {

// An id in [0, vocab) for a token's place in the global batch.
std::int32_t id_at(std::int64_t place, std::int64_t vocab) {
  return static_cast<std::int32_t>((place * 7919 + 13) % vocab);
}

void set_value(const Tensor& tensor, std::int64_t i, float value) {
  if (tensor.data == nullptr) return;
  if (tensor.dtype == DType::bf16) {
    tensor.as<Bf16>()[static_cast<std::size_t>(i)] = to_bf16(value);
  } else if (tensor.dtype == DType::fp32) {
    tensor.as<float>()[static_cast<std::size_t>(i)] = value;
  }
}

}  // namespace

std::string config_text(Family family) {
  switch (family) {
    case Family::gpt2:
    case Family::gpt2_untied: {
      std::string text =
          R"({"model_type":"gpt2","vocab_size":61,"n_positions":32,"n_embd":24,"n_layer":2,)"
          R"("n_head":3,"resid_pdrop":0,"embd_pdrop":0,"attn_pdrop":0)";
      if (family == Family::gpt2_untied) text += R"(,"tie_word_embeddings":false)";
      return text + "}";
    }
    case Family::llama:
      return R"({"model_type":"llama","vocab_size":61,"hidden_size":24,"intermediate_size":40,)"
             R"("num_hidden_layers":2,"num_attention_heads":6,"num_key_value_heads":2,)"
             R"("max_position_embeddings":32,"rms_norm_eps":1e-5,"tie_word_embeddings":false})";
    case Family::mistral:  // a sliding window
      return R"({"model_type":"mistral","vocab_size":61,"hidden_size":24,"intermediate_size":40,)"
             R"("num_hidden_layers":2,"num_attention_heads":3,"num_key_value_heads":1,)"
             R"("max_position_embeddings":32,"sliding_window":5,"tie_word_embeddings":false})";
    case Family::qwen3:
      break;
  }
  return R"({"model_type":"qwen3","vocab_size":61,"hidden_size":24,"intermediate_size":40,)"
         R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":8,)"
         R"("max_position_embeddings":32,"tie_word_embeddings":true})";
}

plan::Plan tiny_plan(const model::ModelConfig& config) {
  plan::Plan plan;
  plan.profile = "fourhold";
  plan.isa = "portable";
  plan.micro_batch = 2;
  plan.grad_accum = 1;
  plan.seq = 16;
  plan.layers_per_stage = {config.layer_count()};
  return plan;
}

TinyRun make_run(Family family, const std::function<void(plan::Plan&)>& change_plan,
                 const Options& options) {
  TinyRun run;
  const std::string text = config_text(family);
  run.config = model::read_hf_config(text, "tiny");
  run.numerics = model::read_numerics(text, "tiny");
  run.profile = plan::load_profile("fourhold");
  run.plan = tiny_plan(run.config);
  if (change_plan) change_plan(run.plan);
  run.plan.global_batch = run.plan.micro_batch * run.plan.grad_accum;
  run.plan.isa = std::string(plan::to_string(options.isa));
  plan::validate(run.plan, run.config, run.profile);
  run.predicted =
      predict::expanded_ledger(run.config, predict::arena_plan(run.plan), run.profile, 0);
  if (options.change) options.change(run.predicted);
  run.arena = std::make_unique<LedgerArena>(
      run.predicted, LedgerArenaOptions{.threads = 1, .guard_bytes = options.guard_bytes});
  run.executor = std::make_unique<Executor>(run.config, run.numerics, run.plan, run.profile,
                                            *run.arena, options.watch);
  return run;
}

void fill_weights(std::span<const ParameterTensors> parameters) {
  for (const ParameterTensors& parameter : parameters) {
    const bool norm = parameter.role == model::ParameterRole::vector &&
                      parameter.name.find("norm") != std::string::npos &&
                      parameter.name.find("weight") != std::string::npos;
    std::uint32_t state = 12345;
    for (const char letter : parameter.name) {
      state = state * 31 + static_cast<unsigned char>(letter);
    }
    for (std::int64_t i = 0; i < parameter.weight.elements(); ++i) {
      state = state * 1664525U + 1013904223U;
      const float unit = static_cast<float>(state >> 8) / 16777216.0F - 0.5F;
      set_value(parameter.weight, i, norm ? 1 + 0.2F * unit : 0.4F * unit);
      set_value(parameter.master, i, 0);
      set_value(parameter.moment1, i, 0);
      set_value(parameter.moment2, i, 0);
    }
  }
}

std::int64_t PlainDriver::count_tokens() { return run_.plan.global_batch * run_.plan.seq; }

void PlainDriver::load_ids(std::int64_t micro_batch, const Tensor& ids) {
  const std::int64_t first = micro_batch * ids.elements();
  for (std::int64_t i = 0; i < ids.elements(); ++i) {
    ids.as<std::int32_t>()[static_cast<std::size_t>(i)] = id_at(first + i, run_.config.vocab);
  }
}

void PlainDriver::load_targets(std::int64_t micro_batch, const Tensor& targets) {
  const std::int64_t first = micro_batch * targets.elements();
  for (std::int64_t i = 0; i < targets.elements(); ++i) {
    targets.as<std::int32_t>()[static_cast<std::size_t>(i)] =
        id_at(first + i + 1, run_.config.vocab);
  }
}

}  // namespace fourhold::engine::testing

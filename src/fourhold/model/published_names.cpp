// The spellings of published weight files, as transformers names its modules (releases 4.4x):
// models/gpt2/modeling_gpt2.py, models/llama/modeling_llama.py (mistral, qwen2 and qwen3 alike),
// models/phi3/modeling_phi3.py.
#include <array>

#include <fmt/format.h>

#include "fourhold/model/names.h"

namespace fourhold::model {
namespace {

constexpr bool kTransposed = true;

constexpr std::array kGpt2Names{
    PublishedName{TensorName::token_embedding, "transformer.wte.weight"},
    PublishedName{TensorName::position_embedding, "transformer.wpe.weight"},
    PublishedName{TensorName::norm1_weight, "transformer.h.#.ln_1.weight"},
    PublishedName{TensorName::norm1_bias, "transformer.h.#.ln_1.bias"},
    PublishedName{TensorName::q_weight, "transformer.h.#.attn.c_attn.weight", kTransposed},
    PublishedName{TensorName::q_bias, "transformer.h.#.attn.c_attn.bias"},
    PublishedName{TensorName::k_weight, "transformer.h.#.attn.c_attn.weight", kTransposed},
    PublishedName{TensorName::k_bias, "transformer.h.#.attn.c_attn.bias"},
    PublishedName{TensorName::v_weight, "transformer.h.#.attn.c_attn.weight", kTransposed},
    PublishedName{TensorName::v_bias, "transformer.h.#.attn.c_attn.bias"},
    PublishedName{TensorName::o_weight, "transformer.h.#.attn.c_proj.weight", kTransposed},
    PublishedName{TensorName::o_bias, "transformer.h.#.attn.c_proj.bias"},
    PublishedName{TensorName::norm2_weight, "transformer.h.#.ln_2.weight"},
    PublishedName{TensorName::norm2_bias, "transformer.h.#.ln_2.bias"},
    PublishedName{TensorName::up_weight, "transformer.h.#.mlp.c_fc.weight", kTransposed},
    PublishedName{TensorName::up_bias, "transformer.h.#.mlp.c_fc.bias"},
    PublishedName{TensorName::down_weight, "transformer.h.#.mlp.c_proj.weight", kTransposed},
    PublishedName{TensorName::down_bias, "transformer.h.#.mlp.c_proj.bias"},
    PublishedName{TensorName::final_norm_weight, "transformer.ln_f.weight"},
    PublishedName{TensorName::final_norm_bias, "transformer.ln_f.bias"},
    PublishedName{TensorName::head_weight, "lm_head.weight"},
};

constexpr std::array kLlamaNames{
    PublishedName{TensorName::token_embedding, "model.embed_tokens.weight"},
    PublishedName{TensorName::norm1_weight, "model.layers.#.input_layernorm.weight"},
    PublishedName{TensorName::q_weight, "model.layers.#.self_attn.q_proj.weight"},
    PublishedName{TensorName::q_bias, "model.layers.#.self_attn.q_proj.bias"},
    PublishedName{TensorName::k_weight, "model.layers.#.self_attn.k_proj.weight"},
    PublishedName{TensorName::k_bias, "model.layers.#.self_attn.k_proj.bias"},
    PublishedName{TensorName::v_weight, "model.layers.#.self_attn.v_proj.weight"},
    PublishedName{TensorName::v_bias, "model.layers.#.self_attn.v_proj.bias"},
    PublishedName{TensorName::q_norm_weight, "model.layers.#.self_attn.q_norm.weight"},
    PublishedName{TensorName::k_norm_weight, "model.layers.#.self_attn.k_norm.weight"},
    PublishedName{TensorName::o_weight, "model.layers.#.self_attn.o_proj.weight"},
    PublishedName{TensorName::o_bias, "model.layers.#.self_attn.o_proj.bias"},
    PublishedName{TensorName::norm2_weight, "model.layers.#.post_attention_layernorm.weight"},
    PublishedName{TensorName::gate_weight, "model.layers.#.mlp.gate_proj.weight"},
    PublishedName{TensorName::gate_bias, "model.layers.#.mlp.gate_proj.bias"},
    PublishedName{TensorName::up_weight, "model.layers.#.mlp.up_proj.weight"},
    PublishedName{TensorName::up_bias, "model.layers.#.mlp.up_proj.bias"},
    PublishedName{TensorName::down_weight, "model.layers.#.mlp.down_proj.weight"},
    PublishedName{TensorName::down_bias, "model.layers.#.mlp.down_proj.bias"},
    PublishedName{TensorName::final_norm_weight, "model.norm.weight"},
    PublishedName{TensorName::head_weight, "lm_head.weight"},
};

constexpr std::array kPhi3Names{
    PublishedName{TensorName::token_embedding, "model.embed_tokens.weight"},
    PublishedName{TensorName::norm1_weight, "model.layers.#.input_layernorm.weight"},
    PublishedName{TensorName::q_weight, "model.layers.#.self_attn.qkv_proj.weight"},
    PublishedName{TensorName::k_weight, "model.layers.#.self_attn.qkv_proj.weight"},
    PublishedName{TensorName::v_weight, "model.layers.#.self_attn.qkv_proj.weight"},
    PublishedName{TensorName::o_weight, "model.layers.#.self_attn.o_proj.weight"},
    PublishedName{TensorName::norm2_weight, "model.layers.#.post_attention_layernorm.weight"},
    PublishedName{TensorName::gate_weight, "model.layers.#.mlp.gate_up_proj.weight"},
    PublishedName{TensorName::up_weight, "model.layers.#.mlp.gate_up_proj.weight"},
    PublishedName{TensorName::down_weight, "model.layers.#.mlp.down_proj.weight"},
    PublishedName{TensorName::final_norm_weight, "model.norm.weight"},
    PublishedName{TensorName::head_weight, "lm_head.weight"},
};

struct TypeStyle {
  std::string_view model_type;
  PublishedStyle style;
};
// Sorted by type. The vision models are read for their language part.
constexpr std::array kTypeStyles{TypeStyle{"gpt2", PublishedStyle::gpt2},
                                 TypeStyle{"llama", PublishedStyle::llama},
                                 TypeStyle{"mistral", PublishedStyle::llama},
                                 TypeStyle{"phi3", PublishedStyle::phi3},
                                 TypeStyle{"qwen2", PublishedStyle::llama},
                                 TypeStyle{"qwen3", PublishedStyle::llama},
                                 TypeStyle{"qwen3_vl", PublishedStyle::llama},
                                 TypeStyle{"qwen3_vl_text", PublishedStyle::llama}};

}  // namespace

std::string to_string(const ParameterId& id) {
  if (id.layer == ParameterId::kNoLayer) {
    return fmt::format("{}.{}", to_string(id.block), to_string(id.name));
  }
  return fmt::format("{}.{}.{}", to_string(id.block), id.layer, to_string(id.name));
}

std::optional<PublishedStyle> published_style(std::string_view model_type) {
  for (const TypeStyle& known : kTypeStyles) {
    if (known.model_type == model_type) return known.style;
  }
  return std::nullopt;
}

std::vector<std::string_view> published_model_types() {
  std::vector<std::string_view> types;
  types.reserve(kTypeStyles.size());
  for (const TypeStyle& known : kTypeStyles) types.push_back(known.model_type);
  return types;
}

std::span<const PublishedName> published_names(PublishedStyle style) {
  switch (style) {
    case PublishedStyle::gpt2:
      return kGpt2Names;
    case PublishedStyle::llama:
      return kLlamaNames;
    case PublishedStyle::phi3:
      break;
  }
  return kPhi3Names;
}

std::string_view published_trunk(PublishedStyle style) {
  return style == PublishedStyle::gpt2 ? "transformer." : "model.";
}

}  // namespace fourhold::model

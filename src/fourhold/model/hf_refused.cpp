// Model types that are known and are not decoder-only transformers: named and refused, because a
// count by the wrong formula is worse than none.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/model/hf_families.h"

namespace fourhold::model {
namespace {

struct RefusedType {
  std::string_view model_type;
  std::string_view kind;
};

constexpr std::string_view kMamba = "a state-space model (Mamba)";
constexpr std::string_view kHybrid = "a hybrid of attention and Mamba layers";
constexpr std::string_view kRecurrent = "a recurrent model";
constexpr std::string_view kLinear = "a hybrid with linear attention";
constexpr std::string_view kConvolution = "a hybrid with convolutions";
constexpr std::string_view kEncoderDecoder = "an encoder-decoder model";
constexpr std::string_view kEncoder = "an encoder without a language model head";
constexpr std::string_view kNested = "a transformer with nested and per-layer embeddings";
constexpr std::string_view kCross = "a language model with cross-attention layers";
constexpr std::string_view kSparseIndex = "a transformer whose attention has a learned index";

constexpr std::array kRefused{
    RefusedType{"mamba", kMamba},
    RefusedType{"mamba2", kMamba},
    RefusedType{"falcon_mamba", kMamba},
    RefusedType{"codestral_mamba", kMamba},
    RefusedType{"nemotron_h", kHybrid},
    RefusedType{"jamba", kHybrid},
    RefusedType{"bamba", kHybrid},
    RefusedType{"falcon_h1", kHybrid},
    RefusedType{"zamba", kHybrid},
    RefusedType{"zamba2", kHybrid},
    RefusedType{"plamo2", kHybrid},
    RefusedType{"hymba", kHybrid},
    RefusedType{"samba", kHybrid},
    RefusedType{"phi4flash", kHybrid},
    RefusedType{"rwkv", kRecurrent},
    RefusedType{"rwkv5", kRecurrent},
    RefusedType{"rwkv6", kRecurrent},
    RefusedType{"rwkv7", kRecurrent},
    RefusedType{"recurrent_gemma", kRecurrent},
    RefusedType{"xlstm", kRecurrent},
    RefusedType{"retnet", kRecurrent},
    RefusedType{"qwen3_next", kLinear},
    RefusedType{"qwen3_5", kLinear},
    RefusedType{"qwen3_5_moe", kLinear},
    RefusedType{"qwen3_5_text", kLinear},
    RefusedType{"qwen3_5_moe_text", kLinear},
    RefusedType{"kimi_linear", kLinear},
    RefusedType{"minimax", kLinear},
    RefusedType{"minimax_text_01", kLinear},
    RefusedType{"minimax_m1", kLinear},
    RefusedType{"lfm2", kConvolution},
    RefusedType{"lfm2_moe", kConvolution},
    RefusedType{"t5", kEncoderDecoder},
    RefusedType{"mt5", kEncoderDecoder},
    RefusedType{"umt5", kEncoderDecoder},
    RefusedType{"longt5", kEncoderDecoder},
    RefusedType{"switch_transformers", kEncoderDecoder},
    RefusedType{"t5gemma", kEncoderDecoder},
    RefusedType{"bart", kEncoderDecoder},
    RefusedType{"mbart", kEncoderDecoder},
    RefusedType{"pegasus", kEncoderDecoder},
    RefusedType{"marian", kEncoderDecoder},
    RefusedType{"m2m_100", kEncoderDecoder},
    RefusedType{"nllb-moe", kEncoderDecoder},
    RefusedType{"blenderbot", kEncoderDecoder},
    RefusedType{"prophetnet", kEncoderDecoder},
    RefusedType{"led", kEncoderDecoder},
    RefusedType{"whisper", kEncoderDecoder},
    RefusedType{"encoder-decoder", kEncoderDecoder},
    RefusedType{"bert", kEncoder},
    RefusedType{"roberta", kEncoder},
    RefusedType{"xlm-roberta", kEncoder},
    RefusedType{"distilbert", kEncoder},
    RefusedType{"albert", kEncoder},
    RefusedType{"electra", kEncoder},
    RefusedType{"deberta", kEncoder},
    RefusedType{"deberta-v2", kEncoder},
    RefusedType{"modernbert", kEncoder},
    RefusedType{"clip", kEncoder},
    RefusedType{"vit", kEncoder},
    RefusedType{"siglip", kEncoder},
    RefusedType{"gemma3n", kNested},
    RefusedType{"gemma3n_text", kNested},
    RefusedType{"mllama", kCross},
    RefusedType{"mllama_text_model", kCross},
    RefusedType{"deepseek_v32", kSparseIndex},
    RefusedType{"glm_moe_dsa", kSparseIndex},
};

constexpr std::string_view kHint =
    "only decoder-only transformers are counted; `fourhold models` lists examples";

}  // namespace

void refuse_unsupported(std::string_view model_type, FieldReader& fields) {
  const auto found = std::find_if(
      kRefused.begin(), kRefused.end(),
      [model_type](const RefusedType& refused) { return refused.model_type == model_type; });
  if (found != kRefused.end()) {
    throw Error(fields.path("model_type"),
                fmt::format("'{}' is {}, which is not supported", model_type, found->kind),
                std::string(kHint));
  }
  for (const std::string_view flag : {"is_encoder_decoder", "add_cross_attention"}) {
    if (const json::Value* value = fields.value(flag);
        value != nullptr && value->is_boolean() && value->boolean()) {
      throw Error(fields.path(flag), "is true: encoder-decoder models are not supported",
                  std::string(kHint));
    }
  }
}

}  // namespace fourhold::model

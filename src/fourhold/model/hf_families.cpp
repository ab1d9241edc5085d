#include "fourhold/model/hf_families.h"

#include <algorithm>
#include <array>

namespace fourhold::model {
namespace {

constexpr std::int64_t kFourH = ClassDefaults::kFourHidden;
constexpr std::int64_t kHeads = ClassDefaults::kAsHeads;
constexpr std::int64_t kDivide = ClassDefaults::kDivided;
constexpr bool kTied = true;
constexpr bool kUntied = false;

// The defaults of each class in transformers (configuration_<type>.py; releases 4.4x):
// vocab, hidden, ffn, layers, heads, kv_heads, head_dim, positions, window, tied.
// Types without a class there, and sizes that only a toy model leaves to its class, require the
// field.
constexpr std::array kFamilies{
    Family{"gpt2", read_gpt2, {50257, 768, kFourH, 12, 12, kHeads, kDivide, 1024, 0, kTied}},
    Family{"gpt_bigcode",
           read_gpt_bigcode,
           {50257, 768, kFourH, 12, 12, kHeads, kDivide, 1024, 0, kTied}},
    Family{"gpt_neo", read_gpt_neo, {50257, 2048, kFourH, 24, 16, kHeads, kDivide, 2048, 0, kTied}},
    Family{
        "gpt_neox", read_gpt_neox, {50432, 6144, 24576, 44, 64, kHeads, kDivide, 2048, 0, kUntied}},
    Family{"opt", read_opt, {50272, 768, 3072, 12, 12, kHeads, kDivide, 2048, 0, kTied}},
    Family{"bloom", read_bloom, {250880, 0, kFourH, 0, 0, kHeads, kDivide, 0, 0, kTied}},
    Family{"falcon", read_falcon, {65024, 4544, kFourH, 32, 71, kHeads, kDivide, 2048, 0, kTied}},
    Family{"starcoder2", read_starcoder2, {49152, 3072, 12288, 30, 24, 2, kDivide, 4096, 0, kTied}},

    Family{"gptj", read_gptj, {50400, 4096, kFourH, 28, 16, kHeads, kDivide, 2048, 0, kUntied}},
    Family{"phi", read_phi, {51200, 2048, 8192, 24, 32, kHeads, kDivide, 2048, 0, kUntied}},
    Family{"cohere", read_cohere, {256000, 8192, 22528, 40, 64, kHeads, kDivide, 8192, 0, kTied}},
    Family{
        "cohere2", read_cohere2, {256000, 8192, 22528, 40, 64, kHeads, kDivide, 8192, 4096, kTied}},
    Family{"stablelm", read_stablelm, {50304, 2560, 6912, 32, 32, 32, kDivide, 4096, 0, kUntied}},

    Family{"llama", read_llama, {32000, 4096, 11008, 32, 32, kHeads, kDivide, 2048, 0, kUntied}},
    Family{
        "mistral", read_mistral, {32000, 4096, 14336, 32, 32, 8, kDivide, 131072, 4096, kUntied}},
    Family{"granite", read_llama, {32000, 4096, 11008, 32, 32, kHeads, kDivide, 2048, 0, kUntied}},
    Family{"qwen2", read_qwen2, {151936, 4096, 22016, 32, 32, 32, kDivide, 32768, 4096, kUntied}},
    Family{"qwen3", read_qwen3, {151936, 4096, 22016, 32, 32, 32, 128, 32768, 4096, kUntied}},
    Family{"phi3", read_phi3, {32064, 3072, 8192, 32, 32, kHeads, kDivide, 4096, 0, kUntied}},
    Family{"olmo2", read_olmo2, {50304, 4096, 11008, 32, 32, kHeads, kDivide, 2048, 0, kUntied}},
    Family{"olmo3", read_olmo3, {50304, 4096, 11008, 32, 32, kHeads, kDivide, 2048, 4096, kUntied}},
    Family{"smollm3", read_llama, {128256, 2048, 11008, 36, 16, 4, kDivide, 32768, 0, kTied}},
    Family{"glm", read_glm, {151552, 4096, 13696, 40, 32, 2, 128, 131072, 0, kUntied}},
    Family{"glm4", read_glm4, {151552, 4096, 13696, 40, 32, 2, 128, 131072, 0, kUntied}},
    Family{"gemma", read_gemma, {256000, 3072, 24576, 28, 16, 16, 256, 8192, 0, kTied}},
    Family{"gemma2", read_gemma2, {256000, 2304, 9216, 26, 8, 4, 256, 8192, 4096, kTied}},
    Family{"gemma3_text", read_gemma3, {262208, 2304, 9216, 26, 8, 4, 256, 131072, 4096, kTied}},

    Family{"mixtral", read_mixtral, {32000, 4096, 14336, 32, 32, 8, kDivide, 131072, 0, kUntied}},
    Family{"qwen2_moe",
           read_qwen2_moe,
           {151936, 2048, 5632, 24, 16, 16, kDivide, 32768, 4096, kUntied}},
    Family{"qwen3_moe",
           read_qwen3_moe,
           {151936, 2048, 6144, 24, 32, 4, kDivide, 32768, 4096, kUntied}},
    Family{"granitemoe",
           read_granitemoe,
           {32000, 4096, 11008, 32, 32, kHeads, kDivide, 2048, 0, kUntied}},
    Family{"granitemoehybrid",
           read_granite_hybrid,
           {32000, 4096, 11008, 32, 32, kHeads, kDivide, 2048, 0, kUntied}},
    Family{"olmoe", read_olmoe, {50304, 2048, 2048, 16, 16, kHeads, kDivide, 4096, 0, kUntied}},
    Family{"gpt_oss", read_gpt_oss, {201088, 2880, 2880, 36, 64, 8, 64, 131072, 128, kUntied}},
    Family{"minimax_m2", read_minimax_m2, {0, 0, 0, 0, 0, kHeads, kDivide, 0, 0, kUntied}},
    Family{"llama4_text", read_llama4, {202048, 5120, 8192, 48, 40, 8, 128, 131072, 0, kUntied}},

    Family{"deepseek_v2",
           read_deepseek_v2,
           {32000, 4096, 11008, 32, 32, kHeads, kDivide, 2048, 0, kUntied}},
    Family{"deepseek_v3",
           read_deepseek_v3,
           {129280, 7168, 18432, 61, 128, kHeads, kDivide, 4096, 0, kUntied}},
    Family{"kimi_k2", read_deepseek_v3, {0, 0, 0, 0, 0, kHeads, kDivide, 0, 0, kUntied}},
    Family{"glm4_moe_lite", read_deepseek_v3, {0, 0, 0, 0, 0, kHeads, kDivide, 0, 0, kUntied}},
    Family{"glm4_moe", read_glm4_moe, {151552, 4096, 10944, 46, 96, 8, 128, 131072, 0, kUntied}},

    Family{"openelm", read_openelm, {32000, 0, 0, 0, 0, kHeads, 128, 2048, 0, kTied}},
    Family{"nemotron-nas", read_nemotron_nas, {0, 0, 0, 0, 0, kHeads, kDivide, 0, 0, kUntied}},
};

// Other names of the same readers: text parts of multimodal models, and older spellings.
struct TypeAlias {
  std::string_view model_type;
  std::string_view family;
};
constexpr std::array kAliases{
    TypeAlias{"RefinedWeb", "falcon"},
    TypeAlias{"RefinedWebModel", "falcon"},
    TypeAlias{"gemma3", "gemma3_text"},
    TypeAlias{"llama4", "llama4_text"},
    TypeAlias{"qwen2_vl", "qwen2"},
    TypeAlias{"qwen2_vl_text", "qwen2"},
    TypeAlias{"qwen2_5_vl", "qwen2"},
    TypeAlias{"qwen2_5_vl_text", "qwen2"},
    TypeAlias{"qwen3_vl_text", "qwen3"},
    TypeAlias{"qwen3_vl_moe_text", "qwen3_moe"},
    TypeAlias{"granitemoeshared", "granitemoe"},
    TypeAlias{"minimax_m2_5", "minimax_m2"},
    TypeAlias{"kimi_k25", "kimi_k2"},
    TypeAlias{"deci", "nemotron-nas"},
    TypeAlias{"nemotron_nas", "nemotron-nas"},
};

const Family* find_exact(std::string_view model_type) {
  const auto found = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& family) {
    return family.model_type == model_type;
  });
  return found == kFamilies.end() ? nullptr : &*found;
}

}  // namespace

const Family* find_family(std::string_view model_type) {
  for (const TypeAlias& alias : kAliases) {
    if (alias.model_type == model_type) return find_exact(alias.family);
  }
  return find_exact(model_type);
}

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kFamilies));
  for (const Family& family : kFamilies) names.push_back(family.model_type);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fourhold::model

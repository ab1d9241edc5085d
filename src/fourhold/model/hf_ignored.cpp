#include "fourhold/model/hf_ignored.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/model/numerics.h"

namespace fourhold::model {
namespace {

// Fields of Gemma 2, Granite, OLMo and DBRX, with the value that is the same as none.
struct Scale {
  std::string_view name;
  double neutral;
};
constexpr std::array kScales{
    Scale{"clip_qkv", 0},
    Scale{"final_logit_softcapping", 0},
    Scale{"attn_logit_softcapping", 0},
    Scale{"attention_multiplier", 0},
    Scale{"query_pre_attn_scalar", 0},
    Scale{"residual_multiplier", 1},
    Scale{"embedding_multiplier", 1},
    Scale{"logits_scaling", 1},
    Scale{"logit_scale", 1},
};

bool is_changing_scale(const std::string& name, const json::Value& value) {
  const auto* scale = std::find_if(kScales.begin(), kScales.end(),
                                   [&name](const Scale& one) { return one.name == name; });
  return scale != kScales.end() && value.is_number() && value.number() != scale->neutral;
}

bool lists_windows(const std::string& name, const json::Value& value) {
  if (name != "layer_types" || !value.is_array()) return false;
  return std::any_of(value.array().begin(), value.array().end(), [](const json::Value& one) {
    return one.is_string() && one.string() != "full_attention";
  });
}

}  // namespace

void note_ignored(Reading& reading, std::string_view model_type) {
  if (!is_computed(model_type)) return;
  std::string names;
  for (const auto& [name, value] : reading.fields.unread_members()) {
    if (!is_changing_scale(name, value) && !lists_windows(name, value)) continue;
    names += (names.empty() ? "" : ", ") + reading.fields.path(name);
  }
  if (names.empty()) return;
  note(reading,
       fmt::format("the model type '{:.60}' has no use for {}: it is counted and computed without",
                   model_type, names));
}

}  // namespace fourhold::model

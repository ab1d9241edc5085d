// A model type that is not in the table. It is read as a Llama only when the file states every
// field of one and nothing that points to other parameters; a note says so.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/model/hf_architecture.h"
#include "fourhold/model/hf_families.h"
#include "fourhold/model/hf_misspelled.h"

namespace fourhold::model {
namespace {

// What a complete file states; rms_norm_eps tells RMS norms from layer norms.
constexpr std::array<std::string_view, 7> kComplete{
    "vocab_size",          "hidden_size", "intermediate_size", "num_hidden_layers",
    "num_attention_heads", "hidden_act",  "rms_norm_eps"};

// Parts of field names that stand for parameters a Llama lacks.
constexpr std::array kForeign{
    std::string_view("expert"),    std::string_view("moe"),         std::string_view("ssm"),
    std::string_view("mamba"),     std::string_view("conv_"),       std::string_view("rwkv"),
    std::string_view("recurr"),    std::string_view("lru"),         std::string_view("linear_att"),
    std::string_view("lora_rank"), std::string_view("layer_norm"),  std::string_view("layernorm"),
    std::string_view("qk_norm"),   std::string_view("cross"),       std::string_view("encoder"),
    std::string_view("parallel"),  std::string_view("block_conf"),  std::string_view("hybrid"),
    std::string_view("per_layer"), std::string_view("multipliers"), std::string_view("mtp"),
    std::string_view("nextn"),     std::string_view("sink"),        std::string_view("altup"),
    std::string_view("bias"),      std::string_view("embed_proj"),
};

bool is_foreign(const std::string& name) {
  return std::any_of(kForeign.begin(), kForeign.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

constexpr const char* kAdvice =
    "an unknown model type is counted only when it has the fields of a Llama and no others that "
    "hold "
    "parameters";

bool is_set(const json::Value& value) {
  if (value.is_null()) return false;
  if (value.is_boolean()) return value.boolean();
  if (value.is_number()) return value.number() != 0;
  return true;
}

[[noreturn]] void unknown_type(Reading& reading, const std::string& field, const std::string& why,
                               const std::string& next) {
  const std::string type = reading.fields.string("model_type").value_or("");
  std::string hint = did_you_mean(type, family_names());
  if (const auto derived = type_of_architecture(reading.fields);
      derived && find_family(*derived) != nullptr) {
    hint = fmt::format("architectures names a class of '{}': state that model_type?", *derived);
  }
  if (!hint.empty()) hint += " ";
  throw Error(reading.fields.path(field), why, hint + next);
}

}  // namespace

void read_unknown(Reading& reading) {
  const std::string type = reading.fields.string("model_type").value_or("");
  for (const std::string_view name : kComplete) {
    if (reading.fields.value(name) != nullptr) continue;
    unknown_type(
        reading, "model_type",
        fmt::format("'{:.60}' is not known, and {} is absent", type, reading.fields.path(name)),
        missing_hint(reading, {name}, kAdvice));
  }
  read_llama(reading);
  if (reading.fields.value("layer_types") != nullptr) {
    // Checks the kinds of layers; windows of unknown types are not guessed.
    static_cast<void>(layer_windows(reading, reading.config.layer_count(), 0, 0));
  }
  for (const auto& [name, value] : reading.fields.unread_members()) {
    if (!is_set(value) || !is_foreign(name)) continue;
    unknown_type(reading, fmt::format("{:.60}", name),
                 fmt::format("belongs to no Llama, and the model type '{:.60}' is not known", type),
                 kAdvice);
  }
  if (reading.fields.value("tie_word_embeddings") == nullptr) {
    note(reading,
         fmt::format("{} is absent and the class is not known: the head is counted as a matrix of "
                     "its own; tied, the count would be {} less",
                     reading.fields.path("tie_word_embeddings"),
                     checked_multiply(reading.config.vocab, reading.config.hidden)));
  }
  note(reading,
       fmt::format("the model type '{:.60}' is not known; it states every field of a Llama "
                   "and is counted as one",
                   type));
}

}  // namespace fourhold::model

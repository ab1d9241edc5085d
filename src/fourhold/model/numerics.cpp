#include "fourhold/model/numerics.h"

#include <algorithm>
#include <array>
#include <optional>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"

namespace fourhold::model {
namespace {

constexpr NumberRange kPositive{1e-12, 1e12};

// Class defaults of transformers 4.46: configuration_{gpt2,llama,mistral,qwen2,qwen3}.py.
struct ClassNumbers {
  std::string_view model_type;
  std::string_view epsilon_field;
  double epsilon;
  std::string_view activation_field;
  std::string_view activation;
};
constexpr std::array kClasses{
    ClassNumbers{"gpt2", "layer_norm_epsilon", 1e-5, "activation_function", "gelu_new"},
    ClassNumbers{"llama", "rms_norm_eps", 1e-6, "hidden_act", "silu"},
    ClassNumbers{"mistral", "rms_norm_eps", 1e-6, "hidden_act", "silu"},
    ClassNumbers{"qwen2", "rms_norm_eps", 1e-6, "hidden_act", "silu"},
    ClassNumbers{"qwen3", "rms_norm_eps", 1e-6, "hidden_act", "silu"}};

void leave_out(Numerics& numerics, const std::string& what) {
  if (numerics.unsupported.empty()) numerics.unsupported = what;
}

void read_activation_form(FieldReader& fields, const ClassNumbers& of_class, Numerics& numerics) {
  const std::string name =
      fields.string(of_class.activation_field).value_or(std::string(of_class.activation));
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") {
    numerics.gelu = GeluForm::tanh;
  } else if (name == "gelu") {
    numerics.gelu = GeluForm::exact;
  } else if (name != "silu" && name != "swish" && name != "relu") {
    leave_out(numerics, std::string(of_class.activation_field) + " " + name);
  }
}

void read_stretch(FieldReader& stretch, RotaryNumbers& rotary, Numerics& numerics) {
  std::optional<std::string> type = stretch.string("rope_type");
  if (!type) type = stretch.string("type");
  const std::string name = type.value_or("default");
  if (name == "linear") {
    rotary.stretch = RotaryStretch::linear;
    rotary.factor = stretch.required_number("factor", kPositive);
  } else if (name == "llama3") {
    rotary.stretch = RotaryStretch::llama3;
    rotary.factor = stretch.required_number("factor", kPositive);
    rotary.low_frequency_factor = stretch.required_number("low_freq_factor", kPositive);
    rotary.high_frequency_factor = stretch.required_number("high_freq_factor", kPositive);
    rotary.original_max_positions =
        stretch.required_number("original_max_position_embeddings", kPositive);
  } else if (name != "default") {
    leave_out(numerics, stretch.path("rope_type") + " " + name);
  }
}

// rope_theta and rope_scaling, or both in rope_parameters (transformers 5).
void read_rotary(FieldReader& fields, Numerics& numerics) {
  RotaryNumbers& rotary = numerics.rotary;
  rotary.base = fields.number("rope_theta", kPositive).value_or(rotary.base);
  if (auto parameters = fields.object("rope_parameters")) {
    rotary.base = parameters->number("rope_theta", kPositive).value_or(rotary.base);
    read_stretch(*parameters, rotary, numerics);
  } else if (auto scaling = fields.object("rope_scaling")) {
    read_stretch(*scaling, rotary, numerics);
  }
}

// Two switches of GPT-2 that change the scores; no release but Mistral's GPT-2 uses the second.
void read_gpt2_scaling(FieldReader& fields, Numerics& numerics) {
  if (!fields.boolean("scale_attn_weights").value_or(true)) {
    leave_out(numerics, "scale_attn_weights false");
  }
  if (fields.boolean("scale_attn_by_inverse_layer_idx").value_or(false)) {
    leave_out(numerics, "scale_attn_by_inverse_layer_idx true");
  }
}

std::string type_of(FieldReader& fields) {
  if (auto stated = fields.string("model_type")) return *stated;
  if (auto architectures = fields.strings("architectures")) {
    if (!architectures->empty() && architectures->front() == "GPT2LMHeadModel") return "gpt2";
  }
  return "";
}

}  // namespace

bool is_computed(std::string_view model_type) {
  return std::any_of(kClasses.begin(), kClasses.end(), [model_type](const ClassNumbers& of_class) {
    return of_class.model_type == model_type;
  });
}

Numerics read_numerics(std::string_view config_text, const std::string& name) {
  Numerics numerics;
  try {
    FieldReader fields(json::parse(config_text, name, json::Literals::nan_and_infinity), "");
    const std::string type = type_of(fields);
    for (const ClassNumbers& of_class : kClasses) {
      if (of_class.model_type != type) continue;
      numerics.norm_epsilon =
          fields.number(of_class.epsilon_field, kPositive).value_or(of_class.epsilon);
      numerics.initializer_range =
          fields.number("initializer_range", kPositive).value_or(numerics.initializer_range);
      read_activation_form(fields, of_class, numerics);
      if (type == "gpt2") {
        read_gpt2_scaling(fields, numerics);
      } else {
        read_rotary(fields, numerics);
      }
      return numerics;
    }
    leave_out(numerics, "model_type " + (type.empty() ? std::string("(not stated)") : type));
  } catch (const Error& fault) {
    throw fault.inside(name);
  }
  return numerics;
}

}  // namespace fourhold::model

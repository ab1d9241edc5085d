// What a model's published file says of its arithmetic: numbers that no count of parameters, bytes
// or FLOPs depends on, and that whoever computes with the model must have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fourhold::model {

// The two published forms of GELU (Hendrycks 2016, arXiv 1606.08415): with the normal distribution,
// and its approximation by tanh ("gelu_new", "gelu_pytorch_tanh").
enum class GeluForm : std::uint8_t { exact, tanh };

// How `rope_scaling` stretches the angles of rotary positions.
enum class RotaryStretch : std::uint8_t { none, linear, llama3 };

struct RotaryNumbers {
  double base = 10000;  // rope_theta
  RotaryStretch stretch = RotaryStretch::none;
  double factor = 1;
  double low_frequency_factor = 1;  // llama3, as the three below
  double high_frequency_factor = 4;
  double original_max_positions = 0;
};

struct Numerics {
  double norm_epsilon = 1e-5;
  GeluForm gelu = GeluForm::tanh;
  RotaryNumbers rotary;
  double initializer_range = 0.02;  // standard deviation of random weights
  // The first thing the file asks for that is not among these ("rope_scaling.rope_type yarn"),
  // empty where there is none. Whoever computes refuses it; whoever counts need not care.
  std::string unsupported;
};

// Whether the engine computes the family: gpt2, llama, mistral, qwen2, qwen3.
[[nodiscard]] bool is_computed(std::string_view model_type);

// Of these families. Absent fields have
// the defaults of the model's class in transformers. Throws Error, naming the field, for a value of
// the wrong kind or range; another model type is `unsupported`.
[[nodiscard]] Numerics read_numerics(std::string_view config_text, const std::string& name);

}  // namespace fourhold::model

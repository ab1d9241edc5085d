// Towers of multimodal models: counted where their shapes are known, named otherwise.
#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/model/hf_extras.h"

namespace fourhold::model {
namespace {

// A linear of [out, in] with its bias.
std::int64_t biased(std::int64_t in, std::int64_t out) {
  return checked_add(checked_multiply(in, out), out);
}

std::int64_t sum(std::initializer_list<std::int64_t> parts) {
  std::int64_t total = 0;
  for (const std::int64_t part : parts) total = checked_add(total, part);
  return total;
}

std::int64_t square(std::int64_t side) { return checked_multiply(side, side); }

// What every tower states, with its class's defaults.
struct Tower {
  std::int64_t width = 0;
  std::int64_t ffn = 0;
  std::int64_t layers = 0;
  std::int64_t patch = 0;
  std::int64_t channels = 3;
};

// A transformer layer with biases everywhere and two layer norms: Siglip, Qwen, Llama 4 alike.
std::int64_t tower_layers(const Tower& tower) {
  const std::int64_t w = tower.width;
  const std::int64_t one = sum({checked_multiply(4, biased(w, w)), biased(w, tower.ffn),
                                biased(tower.ffn, w), checked_multiply(4, w)});
  return checked_multiply(one, tower.layers);
}

std::int64_t integer_or(FieldReader& fields, std::string_view name, std::int64_t default_value) {
  return fields.integer(name, kCountRange).value_or(default_value);
}

std::int64_t patch_or(FieldReader& fields, std::int64_t default_value) {
  return fields.integer("patch_size", kSizeRange).value_or(default_value);
}

std::int64_t image_patches(FieldReader& fields, std::int64_t image, std::int64_t patch) {
  return square(integer_or(fields, "image_size", image) / patch);
}

// Siglip with a learned position per patch, then a norm and one projection to the text width.
std::int64_t gemma3_tower(FieldReader& fields, std::int64_t hidden) {
  const Tower tower{integer_or(fields, "hidden_size", 768),
                    integer_or(fields, "intermediate_size", 3072),
                    integer_or(fields, "num_hidden_layers", 12), patch_or(fields, 16),
                    integer_or(fields, "num_channels", 3)};
  const std::int64_t w = tower.width;
  const std::int64_t pixels = checked_multiply(tower.channels, square(tower.patch));
  const std::int64_t positions = image_patches(fields, 224, tower.patch);
  const std::int64_t projector = checked_add(checked_multiply(w, hidden), w);
  return sum({biased(pixels, w), checked_multiply(positions, w), tower_layers(tower),
              checked_multiply(2, w), projector});
}

// A norm and two linears that merge `merge` x `merge` patches; in the deep-stack mergers the norm
// spans the merged width.
std::int64_t qwen3_merger(std::int64_t norm_width, std::int64_t merged, std::int64_t out) {
  return sum({checked_multiply(2, norm_width), biased(merged, merged), biased(merged, out)});
}

std::int64_t qwen3_vl_tower(FieldReader& fields, std::int64_t hidden) {
  const Tower tower{integer_or(fields, "hidden_size", 1152),
                    integer_or(fields, "intermediate_size", 4304), integer_or(fields, "depth", 27),
                    patch_or(fields, 16), integer_or(fields, "in_channels", 3)};
  const std::int64_t w = tower.width;
  const std::int64_t frames = integer_or(fields, "temporal_patch_size", 2);
  const std::int64_t pixels =
      checked_multiply(checked_multiply(tower.channels, frames), square(tower.patch));
  const std::int64_t positions =
      checked_multiply(integer_or(fields, "num_position_embeddings", 2304), w);
  const std::int64_t merged =
      checked_multiply(w, square(integer_or(fields, "spatial_merge_size", 2)));
  const std::int64_t out = integer_or(fields, "out_hidden_size", hidden);
  const auto deep = fields.integers("deepstack_visual_indexes", kCountRange);
  const std::int64_t deep_mergers = deep.has_value() ? static_cast<std::int64_t>(deep->size()) : 3;
  return sum({biased(pixels, w), positions, tower_layers(tower), qwen3_merger(w, merged, out),
              checked_multiply(deep_mergers, qwen3_merger(merged, merged, out))});
}

// A class token, norms before and after the layers, then two linears and one to the text width.
std::int64_t llama4_tower(FieldReader& fields, std::int64_t hidden) {
  const Tower tower{integer_or(fields, "hidden_size", 768),
                    integer_or(fields, "intermediate_size", 5632),
                    integer_or(fields, "num_hidden_layers", 34), patch_or(fields, 14),
                    integer_or(fields, "num_channels", 3)};
  const std::int64_t w = tower.width;
  const std::int64_t pixels = checked_multiply(tower.channels, square(tower.patch));
  const std::int64_t positions = image_patches(fields, 448, tower.patch) + 1;
  const std::int64_t in = integer_or(fields, "projector_input_dim", 4096);
  const std::int64_t out = integer_or(fields, "projector_output_dim", 4096);
  const std::int64_t to_text = integer_or(fields, "vision_output_dim", 7680);
  return sum({checked_multiply(pixels, w), w, checked_multiply(positions, w),
              checked_multiply(4, w), tower_layers(tower), checked_multiply(tower.ffn, in),
              checked_multiply(in, out), checked_multiply(to_text, hidden)});
}

// Pixtral: gated layers with RMS norms and no biases; the projector merges `merge` x `merge`
// patches.
std::int64_t mistral3_tower(FieldReader& fields, FieldReader& document, std::int64_t hidden) {
  const Tower tower{integer_or(fields, "hidden_size", 1024),
                    integer_or(fields, "intermediate_size", 4096),
                    integer_or(fields, "num_hidden_layers", 24), patch_or(fields, 16),
                    integer_or(fields, "num_channels", 3)};
  const std::int64_t w = tower.width;
  const std::int64_t pixels = checked_multiply(tower.channels, square(tower.patch));
  const std::int64_t one =
      sum({checked_multiply(4, square(w)), checked_multiply(3, checked_multiply(w, tower.ffn)),
           checked_multiply(2, w)});
  const std::int64_t merged =
      checked_multiply(w, square(integer_or(document, "spatial_merge_size", 2)));
  return sum({checked_multiply(pixels, w), w, checked_multiply(one, tower.layers), w,
              checked_multiply(merged, w), checked_multiply(w, hidden), square(hidden)});
}

void add_vision_tower(Reading& reading, FieldReader& document) {
  ModelConfig& config = reading.config;
  const std::string type = document.string("model_type").value_or("");
  auto vision = document.object("vision_config");
  if (!vision.has_value()) {
    const bool expected = type == "gemma3" || type == "llama4" || type == "qwen3_vl" ||
                          type == "qwen3_vl_moe" || type == "mistral3";
    if (expected && reading.outer != nullptr) {
      config.extras.push_back(
          {"vision tower", 0, "this model type has one, but the file lacks its vision_config"});
    }
    return;
  }
  std::int64_t elements = 0;
  if (type == "gemma3") elements = gemma3_tower(*vision, config.hidden);
  if (type == "llama4") elements = llama4_tower(*vision, config.hidden);
  if (type == "qwen3_vl" || type == "qwen3_vl_moe") {
    elements = qwen3_vl_tower(*vision, config.hidden);
  }
  if (type == "mistral3") elements = mistral3_tower(*vision, document, config.hidden);
  config.extras.push_back({"vision tower", elements,
                           elements == 0 ? "its shapes are not derived here"
                                         : "with the projector into the language model"});
}

}  // namespace

void add_towers(Reading& reading) {
  FieldReader& document = reading.outer != nullptr ? *reading.outer : reading.fields;
  add_vision_tower(reading, document);
  if (document.value("audio_config") != nullptr) {
    reading.config.extras.push_back({"audio tower", 0, "its shapes are not derived here"});
  }
}

}  // namespace fourhold::model

#include "fourhold/model/hf_reading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/model/hf_misspelled.h"

namespace fourhold::model {
namespace {

constexpr Aliases kHidden{"hidden_size", "n_embd", "n_embed", "d_model", "model_dim"};
constexpr Aliases kFfn{"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
constexpr Aliases kLayers{"num_hidden_layers", "n_layer", "n_layers", "num_layers",
                          "num_transformer_layers"};
constexpr Aliases kHeadFields{"num_attention_heads", "n_head", "n_heads", "num_heads"};
constexpr Aliases kKvHeads{"num_key_value_heads", "num_kv_heads", "n_head_kv"};
constexpr Aliases kHeadDim{"head_dim", "attention_head_dim"};
constexpr Aliases kMaxPositions{"max_position_embeddings", "n_positions", "seq_length",
                                "max_context_length"};

void note_default(Reading& reading, std::string_view name, std::int64_t default_value) {
  note(reading, fmt::format("{} is absent: {}, the default of its class, is used",
                            reading.fields.path(name), default_value));
}

std::int64_t read_kv_heads(Reading& reading, std::int64_t heads) {
  const bool null = std::any_of(kKvHeads.begin(), kKvHeads.end(), [&](std::string_view name) {
    return reading.fields.is_null(name);
  });
  std::int64_t kv_heads = heads;
  if (const auto stated = aliased_integer(reading, kKvHeads)) {
    kv_heads = *stated;
  } else if (!null && reading.defaults.kv_heads != ClassDefaults::kAsHeads) {
    kv_heads = reading.defaults.kv_heads;
    note_default(reading, "num_key_value_heads", kv_heads);
  } else {
    note(reading,
         fmt::format("{} is {}: as many KV heads as heads, {}, are assumed",
                     reading.fields.path("num_key_value_heads"), null ? "null" : "absent", heads));
  }
  check_kv_heads(reading.fields.path("num_key_value_heads"), kv_heads, heads);
  return kv_heads;
}

// Newer files hold the fraction beside the other rotary fields.
double read_rotary_fraction(Reading& reading, double default_value) {
  constexpr NumberRange kFraction{0, 1};
  if (const auto rope = reading.fields.object("rope_parameters")) {
    FieldReader fields = *rope;
    if (const auto stated = fields.number("partial_rotary_factor", kFraction)) return *stated;
  }
  return number_or(reading, {"partial_rotary_factor", "rotary_pct"}, default_value, kFraction);
}

bool read_tied(Reading& reading) {
  if (const auto stated = reading.fields.boolean("tie_word_embeddings")) return *stated;
  if (reading.outer != nullptr) {
    if (const auto stated = reading.outer->boolean("tie_word_embeddings")) return *stated;
  }
  return reading.defaults.tied;
}

}  // namespace

std::optional<std::int64_t> aliased_integer(Reading& reading, Aliases names, IntegerRange range) {
  std::optional<std::int64_t> found;
  std::string_view found_name;
  for (const std::string_view name : names) {
    const auto value = reading.fields.integer(name, range);
    if (!value.has_value()) continue;
    if (found.has_value() && *found != *value) {
      throw Error(
          reading.fields.path(name),
          fmt::format("is {}, but {}, another name of it, is {}", *value, found_name, *found),
          "keep one of the two");
    }
    found = value;
    found_name = name;
  }
  return found;
}

std::int64_t size_or(Reading& reading, Aliases names, std::int64_t default_value) {
  if (const auto stated = aliased_integer(reading, names)) return *stated;
  if (default_value == ClassDefaults::kRequired) {
    throw Error(reading.fields.path(*names.begin()), "is missing",
                missing_hint(reading, names, "add it to the file"));
  }
  return default_value;
}

std::int64_t noted_size(Reading& reading, Aliases names, std::int64_t default_value,
                        std::string_view shown) {
  if (const auto stated = aliased_integer(reading, names)) return *stated;
  if (shown.empty()) shown = *names.begin();
  if (default_value == ClassDefaults::kRequired) {
    throw Error(
        reading.fields.path(shown), "is missing",
        missing_hint(reading, names, "add it: this model type has no usable default for it"));
  }
  note_default(reading, shown, default_value);
  return default_value;
}

std::int64_t noted_count(Reading& reading, std::string_view name, std::int64_t default_value) {
  if (const auto stated = reading.fields.integer(name, kCountRange)) return *stated;
  note_default(reading, name, default_value);
  return default_value;
}

double number_or(Reading& reading, Aliases names, double default_value, NumberRange range) {
  for (const std::string_view name : names) {
    if (const auto stated = reading.fields.number(name, range)) return *stated;
  }
  return default_value;
}

bool flag_or(Reading& reading, std::string_view name, bool default_value) {
  return reading.fields.boolean(name).value_or(default_value);
}

void check_kv_heads(const std::string& path, std::int64_t kv_heads, std::int64_t heads) {
  if (heads % kv_heads == 0) return;
  std::int64_t nearest = std::min(kv_heads, heads);
  while (heads % nearest != 0) --nearest;
  throw Error(path,
              fmt::format("{} KV heads do not divide num_attention_heads {}", kv_heads, heads),
              fmt::format("the nearest valid value is {}", nearest));
}

void check_rotary(const Reading& reading) {
  const ModelConfig& config = reading.config;
  if (config.position != PositionKind::rotary) return;
  const auto turned = [&config](std::int64_t head_dim) {
    return std::llround(static_cast<double>(head_dim) * config.rotary_fraction);
  };
  for (const LayerKind& kind : config.kinds) {
    const std::int64_t head_dim = kind.attention.head_dim;
    if (kind.attention.rope_head_dim > 0 || turned(head_dim) % 2 == 0) continue;
    std::int64_t below = head_dim - 1;
    while (turned(below) % 2 != 0) --below;
    std::int64_t above = head_dim + 1;
    while (turned(above) % 2 != 0) ++above;
    throw Error(reading.fields.path("head_dim"),
                fmt::format("heads of {} columns: rotary positions turn {} of them, and turn pairs",
                            head_dim, turned(head_dim)),
                below > 0 ? fmt::format("the nearest valid values are {} and {}", below, above)
                          : fmt::format("the nearest valid value is {}", above));
  }
}

std::int64_t read_layer_count(Reading& reading) {
  if (const auto stated = aliased_integer(reading, kLayers, kLayerRange)) return *stated;
  return noted_size(reading, kLayers, reading.defaults.layers);
}

std::int64_t read_head_dim(Reading& reading, std::int64_t hidden, std::int64_t heads) {
  if (const auto stated = aliased_integer(reading, kHeadDim)) return *stated;
  if (reading.defaults.head_dim != ClassDefaults::kDivided) return reading.defaults.head_dim;
  if (hidden % heads == 0) return hidden / heads;
  std::int64_t fewer = std::min(heads, hidden);
  while (hidden % fewer != 0) --fewer;
  throw Error(
      reading.fields.path("hidden_size"),
      fmt::format("hidden_size {} is not a multiple of num_attention_heads {}, and head_dim "
                  "is absent",
                  hidden, heads),
      fmt::format("state head_dim, or use for example {} heads", fewer));
}

Sizes read_sizes(Reading& reading, SizesAsked asked) {
  ModelConfig& config = reading.config;
  const ClassDefaults& defaults = reading.defaults;
  Sizes sizes;
  config.vocab = noted_size(reading, {"vocab_size"}, defaults.vocab);
  sizes.hidden = noted_size(reading, kHidden, defaults.hidden);
  sizes.heads = noted_size(reading, kHeadFields, defaults.heads);
  if (asked.layers) sizes.layers = read_layer_count(reading);
  if (asked.ffn) {
    const bool by_hidden = defaults.ffn == ClassDefaults::kFourHidden;
    const auto stated = by_hidden ? aliased_integer(reading, kFfn) : std::nullopt;
    sizes.ffn =
        by_hidden ? stated.value_or(4 * sizes.hidden) : noted_size(reading, kFfn, defaults.ffn);
  }
  sizes.kv_heads = asked.kv_heads ? read_kv_heads(reading, sizes.heads) : sizes.heads;
  if (asked.head_dim) sizes.head_dim = read_head_dim(reading, sizes.hidden, sizes.heads);

  config.hidden = sizes.hidden;
  config.embedding_width = sizes.hidden;
  config.max_positions = defaults.max_positions;
  for (const std::string_view name : kMaxPositions) {
    if (const auto stated = reading.fields.integer(name, kSizeRange)) {
      config.max_positions = *stated;
      break;
    }
  }
  config.tied = read_tied(reading);
  config.rotary_fraction = read_rotary_fraction(reading, asked.rotary_fraction);
  constexpr NumberRange kProbability{0, 1};
  config.dropout =
      number_or(reading, {"resid_pdrop", "residual_dropout", "hidden_dropout"}, 0, kProbability);
  config.attention_dropout =
      number_or(reading, {"attn_pdrop", "attention_dropout"}, 0, kProbability);
  config.embedding_dropout =
      number_or(reading, {"embd_pdrop", "embedding_dropout"}, 0, kProbability);
  return sizes;
}

ActivationKind read_activation(Reading& reading, ActivationKind default_kind) {
  struct Spelling {
    std::string_view text;
    ActivationKind kind;
  };
  static constexpr std::array<Spelling, 12> kSpellings{{
      {"gelu", ActivationKind::gelu},
      {"gelu_new", ActivationKind::gelu},
      {"gelu_fast", ActivationKind::gelu},
      {"gelu_python", ActivationKind::gelu},
      {"gelu_pytorch_tanh", ActivationKind::gelu},
      {"gelu_accurate", ActivationKind::gelu},
      {"gelu_10", ActivationKind::gelu},
      {"quick_gelu", ActivationKind::gelu},
      {"relu", ActivationKind::relu},
      {"silu", ActivationKind::silu},
      {"swish", ActivationKind::silu},
      {"swiglu", ActivationKind::silu},
  }};
  for (const std::string_view name :
       {"hidden_activation", "hidden_act", "activation_function", "activation_fn_name"}) {
    const auto stated = reading.fields.string(name);
    if (!stated.has_value()) continue;
    for (const Spelling& spelling : kSpellings) {
      if (spelling.text == *stated) return spelling.kind;
    }
    throw Error(reading.fields.path(name), fmt::format("'{:.40}' is not supported", *stated),
                "supported are gelu (and its variants), relu, silu and swish");
  }
  return default_kind;
}

std::int64_t read_window(Reading& reading) {
  if (reading.fields.is_null("sliding_window")) return 0;
  return reading.fields.integer("sliding_window", kCountRange).value_or(reading.defaults.window);
}

void note(Reading& reading, std::string text) { reading.config.notes.push_back(std::move(text)); }

}  // namespace fourhold::model

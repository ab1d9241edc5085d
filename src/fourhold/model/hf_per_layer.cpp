// Families whose layers differ one by one: OpenELM's lists and Nemotron's block_configs.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/model/hf_families.h"

namespace fourhold::model {
namespace {

// Products of widths and multipliers stay exact in a double up to here.
constexpr double kMaxWidth = 2147483647.0;

// The nearest multiple of `divisor` (halves up, at least one of it), or one more where that falls
// below 0.9 of the value: the rule of OpenELM and of mobile networks before it.
std::int64_t rounded_to_multiple(double value, std::int64_t divisor, const std::string& path) {
  const double unit = static_cast<double>(divisor);
  const double multiple = std::max(unit, std::floor((value + unit / 2) / unit) * unit);
  const double rounded = multiple < 0.9 * value ? multiple + unit : multiple;
  if (!(rounded <= kMaxWidth))
    throw Error(path, "gives a width above 2^31", "use smaller multipliers");
  return static_cast<std::int64_t>(rounded);
}

// A list with one entry per layer.
template <class Element>
void check_length(const std::vector<Element>& list, std::int64_t layers, const std::string& path) {
  if (static_cast<std::int64_t>(list.size()) == layers) return;
  throw Error(path, fmt::format("has {} entries for {} layers", list.size(), layers),
              "give one entry per layer");
}

constexpr NumberRange kMultiplier{1e-3, 1e4};

// Two numbers are the ends of a line over the layers, rounded to two decimals as the class does.
std::vector<double> per_layer_multipliers(Reading& reading, std::string_view name,
                                          std::int64_t layers) {
  const json::Value* value = reading.fields.value(name);
  const std::string path = reading.fields.path(name);
  if (value == nullptr) throw Error(path, "is missing", "give one number per layer");
  if (value->is_number()) {
    return std::vector<double>(static_cast<std::size_t>(layers),
                               number_of(*value, path, kMultiplier));
  }
  std::vector<double> list = *reading.fields.numbers(name, kMultiplier);
  if (list.size() == 2 && layers != 2) {
    const double first = list[0];
    const double step = layers > 1 ? (list[1] - first) / static_cast<double>(layers - 1) : 0;
    list.clear();
    for (std::int64_t i = 0; i < layers; ++i) {
      list.push_back(std::nearbyint((first + step * static_cast<double>(i)) * 100) / 100);
    }
  }
  check_length(list, layers, path);
  return list;
}

struct HeadCounts {
  std::vector<std::int64_t> heads;
  std::vector<std::int64_t> kv_heads;
};

// The lists of published files, or the widths they were made from.
HeadCounts read_openelm_heads(Reading& reading, std::int64_t layers, std::int64_t hidden,
                              std::int64_t head_dim) {
  const std::int64_t groups = size_or(reading, {"num_gqa_groups"}, 1);
  HeadCounts counts;
  if (auto heads = reading.fields.integers("num_query_heads", kSizeRange)) {
    counts.heads = *std::move(heads);
  } else {
    const std::string path = reading.fields.path("qkv_multipliers");
    for (const double multiplier : per_layer_multipliers(reading, "qkv_multipliers", layers)) {
      const double width = multiplier * static_cast<double>(hidden);
      counts.heads.push_back(rounded_to_multiple(width, checked_multiply(head_dim, groups), path) /
                             head_dim);
    }
  }
  if (auto kv_heads = reading.fields.integers("num_kv_heads", kSizeRange)) {
    counts.kv_heads = *std::move(kv_heads);
  } else {
    for (const std::int64_t heads : counts.heads) {
      counts.kv_heads.push_back(std::max<std::int64_t>(1, heads / groups));
    }
  }
  check_length(counts.heads, layers, reading.fields.path("num_query_heads"));
  check_length(counts.kv_heads, layers, reading.fields.path("num_kv_heads"));
  for (std::size_t i = 0; i < counts.heads.size(); ++i) {
    check_kv_heads(fmt::format("{}[{}]", reading.fields.path("num_kv_heads"), i),
                   counts.kv_heads[i], counts.heads[i]);
  }
  return counts;
}

// 2/3 of the multiple for a gated feed-forward, rounded up to a multiple of 256.
std::int64_t nemotron_ffn_width(double multiplier, std::int64_t hidden, const std::string& path) {
  const double width = std::floor(2.0 * multiplier * static_cast<double>(hidden) / 3.0);
  if (!(width >= 1 && width <= kMaxWidth)) {
    throw Error(path, "gives a width outside 1 to 2^31", "use a multiplier between 0.5 and 10");
  }
  return 256 * ceil_divide(static_cast<std::int64_t>(width), 256);
}

enum class Part { kept, absent, linear };

Part read_part(FieldReader& fields) {
  if (fields.boolean("no_op").value_or(false)) return Part::absent;
  return fields.boolean("replace_with_linear").value_or(false) ? Part::linear : Part::kept;
}

void read_block_attention(FieldReader fields, Attention& attention) {
  const Part part = read_part(fields);
  if (part != Part::kept) {
    attention = Attention{};
    attention.kind = part == Part::absent ? AttentionKind::none : AttentionKind::linear;
    return;
  }
  const std::int64_t group = fields.required_integer("n_heads_in_group", {1, attention.heads});
  if (attention.heads % group != 0) {
    throw Error(fields.path("n_heads_in_group"),
                fmt::format("{} does not divide num_attention_heads {}", group, attention.heads),
                "use a divisor of the heads");
  }
  attention.kv_heads = attention.heads / group;
  attention.window = fields.integer("window_length", kCountRange).value_or(0);
  if (fields.value("num_sink_tokens") != nullptr) {
    throw Error(fields.path("num_sink_tokens"), "attention with sink tokens is not supported",
                "the nearest valid value is null");
  }
}

void read_block_feed_forward(FieldReader fields, std::int64_t hidden, FeedForward& feed_forward) {
  const Part part = read_part(fields);
  if (part != Part::kept) {
    feed_forward = FeedForward{};
    feed_forward.kind = part == Part::absent ? FeedForwardKind::none : FeedForwardKind::linear;
    return;
  }
  const double multiplier = fields.required_number("ffn_mult", kMultiplier);
  feed_forward.width = nemotron_ffn_width(multiplier, hidden, fields.path("ffn_mult"));
}

void read_listed_kv_heads(Reading& reading) {
  const Sizes sizes = read_sizes(reading, {.kv_heads = false});
  LayerKind layer = gated_rms_layer(reading, sizes);
  const std::string_view name = "num_key_value_heads_per_layer";
  const std::string path = reading.fields.path(name);
  const auto list = reading.fields.integers(name, kSizeRange);
  if (!list.has_value()) {
    throw Error(reading.fields.path("block_configs"), "is missing",
                "this model type states each block, or num_key_value_heads_per_layer");
  }
  check_length(*list, sizes.layers, path);
  for (const std::int64_t kv_heads : *list) {
    check_kv_heads(path, kv_heads, sizes.heads);
    layer.attention.kv_heads = kv_heads;
    add_layer(reading, layer);
  }
}

FieldReader required_object(FieldReader& fields, std::string_view name) {
  if (auto object = fields.object(name)) return *std::move(object);
  throw Error(fields.path(name), "is missing", "each block states its attention and its ffn");
}

}  // namespace

// OpenELM (arXiv 2404.14619, section 2.1): heads and feed-forward grow from layer to layer.
void read_openelm(Reading& reading) {
  ModelConfig& config = reading.config;
  const std::int64_t layers = read_layer_count(reading);
  config.hidden = size_or(reading, {"model_dim", "hidden_size"}, ClassDefaults::kRequired);
  config.embedding_width = config.hidden;
  config.vocab = size_or(reading, {"vocab_size"}, reading.defaults.vocab);
  config.max_positions = size_or(reading, {"max_context_length"}, reading.defaults.max_positions);
  config.tied = flag_or(reading, "share_input_output_layers", true);

  Sizes sizes;
  sizes.head_dim = size_or(reading, {"head_dim"}, reading.defaults.head_dim);
  const HeadCounts counts = read_openelm_heads(reading, layers, config.hidden, sizes.head_dim);
  const std::vector<double> multipliers = per_layer_multipliers(reading, "ffn_multipliers", layers);
  const std::int64_t divisor = size_or(reading, {"ffn_dim_divisor"}, 256);
  const std::string path = reading.fields.path("ffn_multipliers");

  LayerKind layer = gated_rms_layer(reading, sizes);
  layer.feed_forward.gated = flag_or(reading, "ffn_with_glu", true);
  if (flag_or(reading, "normalize_qk_projections", true)) {
    layer.attention.qk_norm = QkNorm::per_head;
  }
  for (std::size_t i = 0; i < multipliers.size(); ++i) {
    layer.attention.heads = counts.heads[i];
    layer.attention.kv_heads = counts.kv_heads[i];
    layer.feed_forward.width =
        rounded_to_multiple(multipliers[i] * static_cast<double>(config.hidden), divisor, path);
    add_layer(reading, layer);
  }
}

// Nemotron-NAS (DeciLM): each block may lack its attention or feed-forward, or hold one matrix
// instead. Its forerunner DeciLM-7B lists only the KV heads of each layer.
void read_nemotron_nas(Reading& reading) {
  if (reading.fields.value("block_configs") == nullptr) {
    read_listed_kv_heads(reading);
    return;
  }
  const Sizes sizes = read_sizes(reading, {.ffn = false, .kv_heads = false});
  const LayerKind base = gated_rms_layer(reading, sizes);
  const std::string path = reading.fields.path("block_configs");
  const json::Array& blocks = *reading.fields.array("block_configs");
  check_length(blocks, sizes.layers, path);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    FieldReader block(blocks[i], fmt::format("{}[{}]", path, i));
    LayerKind layer = base;
    read_block_attention(required_object(block, "attention"), layer.attention);
    read_block_feed_forward(required_object(block, "ffn"), sizes.hidden, layer.feed_forward);
    add_layer(reading, layer);
  }
}

}  // namespace fourhold::model

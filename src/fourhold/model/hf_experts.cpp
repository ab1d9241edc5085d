// Mixtures of experts over plain attention.
#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/model/hf_families.h"

namespace fourhold::model {
namespace {

// Which layers of the Qwen classes have experts: not those listed, and one of every `step`.
class SparseLayers {
 public:
  explicit SparseLayers(Reading& reading)
      : step_(size_or(reading, {"decoder_sparse_step"}, 1)),
        dense_(reading.fields.integers("mlp_only_layers", kCountRange)
                   .value_or(std::vector<std::int64_t>{})) {
    std::sort(dense_.begin(), dense_.end());
  }
  [[nodiscard]] bool contains(std::int64_t layer) const {
    return (layer + 1) % step_ == 0 && !std::binary_search(dense_.begin(), dense_.end(), layer);
  }

 private:
  std::int64_t step_;
  std::vector<std::int64_t> dense_;
};

// Adds `sparse` or `dense` for each layer, as the Qwen classes say.
void add_qwen_moe_layers(Reading& reading, const LayerKind& sparse, const LayerKind& dense,
                         std::int64_t layers) {
  const SparseLayers sparse_layers(reading);
  const bool any = sparse.feed_forward.experts > 0;
  for (std::int64_t i = 0; i < layers; ++i) {
    add_layer(reading, any && sparse_layers.contains(i) ? sparse : dense);
  }
}

}  // namespace

void read_mixtral(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  read_experts(reading, {.experts = 8, .active = 2, .width = sizes.ffn}, layer.feed_forward);
  add_windowed_layers(reading, layer,
                      layer_windows(reading, sizes.layers, read_window(reading), kNoneFull));
}

void read_qwen2_moe(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind dense = gated_rms_layer(reading, sizes);
  dense.attention.qkv_bias = flag_or(reading, "qkv_bias", true);
  LayerKind sparse = dense;
  const std::int64_t width = noted_size(reading, {"moe_intermediate_size"}, 1408);
  read_experts(reading, {60, 4, width, "num_experts"}, sparse.feed_forward);
  sparse.feed_forward.shared_width = noted_size(reading, {"shared_expert_intermediate_size"}, 5632);
  sparse.feed_forward.shared_gate = true;
  add_qwen_moe_layers(reading, sparse, dense, sizes.layers);
}

void read_qwen3_moe(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind dense = gated_rms_layer(reading, sizes);
  read_attention_bias(reading, dense);
  dense.attention.qk_norm = QkNorm::per_head;
  const bool all_dense = reading.fields.integer("num_experts", kCountRange) == 0;
  LayerKind sparse = dense;
  if (!all_dense) {
    const std::int64_t width = noted_size(reading, {"moe_intermediate_size"}, 768);
    read_experts(reading, {128, 8, width, "num_experts"}, sparse.feed_forward);
  }
  add_qwen_moe_layers(reading, sparse, dense, sizes.layers);
}

void read_granitemoe(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  read_attention_bias(reading, layer);
  read_experts(reading, {8, 2, sizes.ffn}, layer.feed_forward);
  layer.feed_forward.shared_width =
      reading.fields.integer("shared_intermediate_size", kCountRange).value_or(0);
  add_layers(reading, layer, sizes.layers);
}

// Granite 4 is a hybrid in most sizes; those of attention alone are dense and keep their width
// under the name of the shared expert.
void read_granite_hybrid(Reading& reading) {
  const Sizes sizes = read_sizes(reading, {.ffn = false});
  const auto types = reading.fields.strings("layer_types");
  const bool attention_only =
      types.has_value() && std::all_of(types->begin(), types->end(),
                                       [](const std::string& type) { return type == "attention"; });
  const std::int64_t experts = reading.fields.integer("num_local_experts", kCountRange).value_or(8);
  if (!attention_only || experts != 0) {
    throw Error(reading.fields.path(attention_only ? "num_local_experts" : "layer_types"),
                "'granitemoehybrid' with Mamba layers or experts is not supported",
                "only sizes whose layers are all attention, without experts, are counted");
  }
  LayerKind layer = gated_rms_layer(reading, sizes);
  read_attention_bias(reading, layer);
  layer.feed_forward.width =
      size_or(reading, {"shared_intermediate_size"}, ClassDefaults::kRequired);
  add_windowed_layers(reading, layer, layer_windows(reading, sizes.layers, 0, kNoneFull));
}

void read_olmoe(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  read_attention_bias(reading, layer);
  layer.attention.qk_norm = QkNorm::full_width;
  read_experts(reading, {64, 8, sizes.ffn, "num_experts"}, layer.feed_forward);
  add_layers(reading, layer, sizes.layers);
}

// One learned logit per head joins the softmax; every expert and the router have biases.
void read_gpt_oss(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  const bool bias = flag_or(reading, "attention_bias", true);
  layer.attention.qkv_bias = bias;
  layer.attention.output_bias = bias;
  layer.attention.sinks = true;
  read_experts(reading, {128, 4, sizes.ffn}, layer.feed_forward);
  layer.feed_forward.bias = true;
  layer.feed_forward.router_bias = true;
  add_windowed_layers(reading, layer,
                      layer_windows(reading, sizes.layers, read_window(reading), 2));
}

void read_minimax_m2(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind layer = gated_rms_layer(reading, sizes);
  if (flag_or(reading, "use_qk_norm", true)) {
    const std::string type = reading.fields.string("qk_norm_type").value_or("per_layer");
    if (type != "per_layer") {
      throw Error(reading.fields.path("qk_norm_type"),
                  fmt::format("'{:.40}' is not supported", type),
                  "the nearest valid value is per_layer");
    }
    layer.attention.qk_norm = QkNorm::full_width;
  }
  if (const auto rotary = reading.fields.integer("rotary_dim", {1, sizes.head_dim})) {
    reading.config.rotary_fraction =
        static_cast<double>(*rotary) / static_cast<double>(sizes.head_dim);
  }
  read_experts(reading, {ClassDefaults::kRequired, ClassDefaults::kRequired, sizes.ffn},
               layer.feed_forward);
  layer.feed_forward.shared_width =
      reading.fields.integer("shared_intermediate_size", kCountRange).value_or(0);
  layer.feed_forward.correction_bias = flag_or(reading, "use_routing_bias", true);
  add_layers(reading, layer, sizes.layers);
  const std::int64_t modules = reading.fields.integer("num_mtp_modules", kCountRange).value_or(0);
  if (flag_or(reading, "use_mtp", false) && modules > 0) {
    reading.config.extras.push_back(
        {"multi-token prediction", 0,
         fmt::format("{} modules are configured; they are not in the published checkpoint and "
                     "their shapes are not known here",
                     modules)});
  }
}

namespace {

// Rotated layers attend within chunks; every fourth, unless listed otherwise, has no rotation and
// attends to all.
std::vector<std::int64_t> llama4_windows(Reading& reading, std::int64_t layers) {
  FieldReader& fields = reading.fields;
  const std::int64_t chunk =
      fields.is_null("attention_chunk_size")
          ? 0
          : fields.integer("attention_chunk_size", kCountRange).value_or(8192);
  const auto rotated = fields.integers("no_rope_layers", {0, 1});  // 1 = has rotation
  if (!rotated.has_value() || rotated->empty() || fields.value("layer_types") != nullptr) {
    return layer_windows(reading, layers, chunk, size_or(reading, {"no_rope_layer_interval"}, 4));
  }
  if (static_cast<std::int64_t>(rotated->size()) != layers) {
    throw Error(fields.path("no_rope_layers"),
                fmt::format("has {} entries for {} layers", rotated->size(), layers),
                "give one entry per layer, or leave the list out");
  }
  std::vector<std::int64_t> windows;
  for (const std::int64_t has_rotation : *rotated) windows.push_back(has_rotation * chunk);
  return windows;
}

}  // namespace

// Layers are dense unless `moe_layers` or the step names them; one shared expert is as wide as a
// routed one.
void read_llama4(Reading& reading) {
  const Sizes sizes = read_sizes(reading);
  LayerKind dense = gated_rms_layer(reading, sizes);
  read_attention_bias(reading, dense);
  if (flag_or(reading, "use_qk_norm", true)) dense.attention.qk_norm = QkNorm::without_weight;
  dense.feed_forward.width = noted_size(reading, {"intermediate_size_mlp"}, 16384);
  LayerKind sparse = dense;
  sparse.feed_forward.width = 0;
  read_experts(reading, {16, 1, sizes.ffn}, sparse.feed_forward);
  sparse.feed_forward.shared_width = sizes.ffn;

  const std::int64_t step = size_or(reading, {"interleave_moe_layer_step"}, 1);
  auto listed = reading.fields.integers("moe_layers", kCountRange);
  if (listed.has_value()) std::sort(listed->begin(), listed->end());
  const std::vector<std::int64_t> windows = llama4_windows(reading, sizes.layers);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const bool experts = listed.has_value() ? std::binary_search(listed->begin(), listed->end(), i)
                                            : (i + 1) % step == 0;
    LayerKind layer = experts ? sparse : dense;
    layer.attention.window = windows[static_cast<std::size_t>(i)];
    add_layer(reading, layer);
  }
}

}  // namespace fourhold::model

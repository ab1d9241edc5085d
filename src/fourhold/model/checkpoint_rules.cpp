#include "fourhold/model/checkpoint_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace fourhold::model {
namespace {

// The whole name, or its last parts: "wte.weight" is the end of "transformer.wte.weight".
bool ends_with_parts(std::string_view name, std::string_view parts) {
  return name == parts || (name.ends_with(parts) && name.size() > parts.size() &&
                           name[name.size() - parts.size() - 1] == '.');
}

bool is_causal_mask(const StoredTensor& tensor) {
  if (ends_with_parts(tensor.name, "masked_bias")) return tensor.elements == 1;
  const bool named =
      ends_with_parts(tensor.name, "attn.bias") || ends_with_parts(tensor.name, "attention.bias");
  const std::vector<std::int64_t>& shape = tensor.shape;
  return named && shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && shape[2] == shape[3];
}

// Each scale belongs to a weight of its own name; a "...scale" without one may be a parameter.
struct ScaleSuffix {
  std::string_view suffix;
  std::string_view of;
};
constexpr std::array<ScaleSuffix, 7> kScaleSuffixes{{{"_scale_inv", ""},
                                                     {".weight_scale", ".weight"},
                                                     {".weight_scale_2", ".weight"},
                                                     {".input_scale", ".weight"},
                                                     {".k_scale", ".weight"},
                                                     {".v_scale", ".weight"},
                                                     {"_scales", "_blocks"}}};

constexpr std::array<std::string_view, 14> kTowerPrefixes{"visual.",
                                                          "model.visual.",
                                                          "vision_tower.",
                                                          "model.vision_tower.",
                                                          "vision_model.",
                                                          "model.vision_model.",
                                                          "vision_encoder.",
                                                          "multi_modal_projector.",
                                                          "model.multi_modal_projector.",
                                                          "audio_tower.",
                                                          "model.audio_tower.",
                                                          "audio_encoder.",
                                                          "embed_vision.",
                                                          "mm_projector."};

bool is_tower(std::string_view name) {
  return std::any_of(kTowerPrefixes.begin(), kTowerPrefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

bool has_integer_type(StoredType type) {
  return type == StoredType::i64 || type == StoredType::i32 || type == StoredType::u32 ||
         type == StoredType::u64;
}

}  // namespace

StoredKinds::StoredKinds(const std::vector<StoredTensor>& tensors) {
  constexpr std::string_view kMark = "eh_proj.weight";  // joins embedding and hidden state
  names_.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors) names_.emplace_back(tensor.name);
  std::sort(names_.begin(), names_.end());
  for (const std::string_view mark : names_) {
    if (!ends_with_parts(mark, kMark) || mark.size() == kMark.size()) continue;
    // In sorted names those of one layer follow each other.
    const std::string_view layer = mark.substr(0, mark.size() - kMark.size());
    for (auto name = std::lower_bound(names_.begin(), names_.end(), layer);
         name != names_.end() && name->starts_with(layer); ++name) {
      predicted_names_.push_back(*name);
    }
  }
  std::sort(predicted_names_.begin(), predicted_names_.end());
  has_language_model_ = std::any_of(names_.begin(), names_.end(), [this](std::string_view name) {
    return !is_tower(name) && !in_prediction_layer(name);
  });
}

bool StoredKinds::in_prediction_layer(std::string_view name) const {
  return std::binary_search(predicted_names_.begin(), predicted_names_.end(), name);
}

bool StoredKinds::holds(std::string_view name) const {
  return std::binary_search(names_.begin(), names_.end(), name);
}

StoredKind StoredKinds::of(const StoredTensor& tensor) const {
  const std::string_view name = tensor.name;
  if (is_causal_mask(tensor)) return StoredKind::causal_mask;
  if (ends_with_parts(name, "inv_freq")) return StoredKind::rotary_frequency;
  if (ends_with_parts(name, "position_ids") && has_integer_type(tensor.type)) {
    return StoredKind::position_index;
  }
  for (const auto& [suffix, of] : kScaleSuffixes) {
    if (!name.ends_with(suffix)) continue;
    std::string owner(name.substr(0, name.size() - suffix.size()));
    owner += of;
    if (holds(owner)) return StoredKind::scale;
  }
  // A file of nothing but such parts is counted as what it is.
  if (has_language_model_ && in_prediction_layer(name)) return StoredKind::prediction_layer;
  if (has_language_model_ && is_tower(name)) return StoredKind::other_tower;
  if (name.ends_with("_blocks") && tensor.type == StoredType::u8) {
    std::string scales(name.substr(0, name.size() - std::string_view("_blocks").size()));
    if (holds(scales + "_scales")) return StoredKind::packed;
  }
  if (ends_with_parts(name, "e_score_correction_bias")) return StoredKind::correction_bias;
  return StoredKind::parameter;
}

TiedPair find_tied_pair(const std::vector<StoredTensor>& tensors) {
  constexpr std::array<std::string_view, 5> kEmbeddings{"embed_tokens.weight", "wte.weight",
                                                        "word_embeddings.weight", "embed_in.weight",
                                                        "tok_embeddings.weight"};
  constexpr std::array<std::string_view, 3> kHeads{"lm_head.weight", "embed_out.weight",
                                                   "output.weight"};
  TiedPair pair;
  for (const StoredTensor& tensor : tensors) {
    for (const std::string_view name : kEmbeddings) {
      if (!ends_with_parts(tensor.name, name)) continue;
      // Prediction layers repeat it under a longer name.
      const bool shorter =
          pair.embedding == nullptr || tensor.name.size() < pair.embedding->name.size();
      if (shorter) pair.embedding = &tensor;
    }
    for (const std::string_view name : kHeads) {
      const bool whole = tensor.name == name ||
                         tensor.name == "language_model." + std::string(name) ||
                         tensor.name == "model." + std::string(name);
      if (pair.head == nullptr && whole) pair.head = &tensor;
    }
  }
  const bool alike = pair.embedding != nullptr && pair.head != nullptr &&
                     pair.embedding->type == pair.head->type &&
                     pair.embedding->shape == pair.head->shape;
  return alike ? pair : TiedPair{};
}

bool is_opaque_quantised(std::string_view name) {
  return ends_with_parts(name, "qweight") || ends_with_parts(name, "weight_packed") ||
         name.find(".quant_state.") != std::string_view::npos;
}

}  // namespace fourhold::model

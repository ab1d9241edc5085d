#include "fourhold/engine/checkpoint/published_match.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/model/checkpoint_rules.h"
#include "fourhold/model/names.h"

namespace fourhold::engine {
namespace {

using model::StoredKind;

std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += fmt::format("{}{:.120}", i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string tensors(std::size_t count) {
  return counted(static_cast<std::int64_t>(count), "tensor");
}

// The name without what wrappers put before it: DistributedDataParallel, torch.compile, and the
// language part of a vision model.
std::string unwrapped(std::string_view name) {
  constexpr std::array<std::string_view, 2> kWrappers{"module.", "_orig_mod."};
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view wrapper : kWrappers) {
      if (!name.starts_with(wrapper)) continue;
      name.remove_prefix(wrapper.size());
      found = true;
    }
  }
  constexpr std::string_view kLanguage = "language_model.";
  constexpr std::string_view kInModel = "model.language_model.";
  if (name.starts_with(kInModel)) return "model." + std::string(name.substr(kInModel.size()));
  if (name.starts_with(kLanguage)) name.remove_prefix(kLanguage.size());
  return std::string(name);
}

class Names {
 public:
  Names(const std::vector<model::PublishedTensor>& wanted, const model::ModelConfig& config)
      : trunk_(model::published_trunk(*model::published_style(config.model_type))) {
    for (std::size_t i = 0; i < wanted.size(); ++i) index_.emplace(wanted[i].name, i);
    // A tied head may be stored as well as the embedding, or instead of it.
    if (config.tied) head_ = model::published_head_name(config);
  }

  [[nodiscard]] std::optional<std::size_t> find(std::string_view stored) const {
    const std::string name = unwrapped(stored);
    auto found = index_.find(name);
    if (found == index_.end()) found = index_.find(std::string(trunk_) + name);
    if (found == index_.end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] bool is_tied_head(std::string_view stored) const {
    return !head_.empty() && unwrapped(stored) == head_;
  }

 private:
  std::string_view trunk_;
  std::unordered_map<std::string, std::size_t> index_;
  std::string head_;
};

bool same_values(const StoredBytes& a, const StoredBytes& b) {
  return a.tensor.type == b.tensor.type && a.tensor.shape == b.tensor.shape &&
         (a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0);
}

void refuse_different_twins(const StoredBytes& first, const StoredBytes& second, bool tied,
                            const std::string& where) {
  if (same_values(first, second)) return;
  throw Error(
      where,
      fmt::format("'{:.120}' and '{:.120}' are {}, but their values differ", first.tensor.name,
                  second.tensor.name, tied ? "tied by the config" : "two names of one tensor"),
      tied ? "set tie_word_embeddings to false in config.json to keep both"
           : "remove one of the two: which one counts cannot be told");
}

std::string_view words(StoredKind kind) {
  switch (kind) {
    case StoredKind::causal_mask:
      return "causal mask buffers";
    case StoredKind::rotary_frequency:
      return "rotary frequencies";
    case StoredKind::position_index:
      return "position indices";
    case StoredKind::prediction_layer:
      return "layers of multi-token prediction";
    case StoredKind::other_tower:
      return "other towers";
    default:
      return "other buffers";
  }
}

// Kinds that a model trains without.
bool is_set_aside(StoredKind kind) {
  return kind == StoredKind::causal_mask || kind == StoredKind::rotary_frequency ||
         kind == StoredKind::position_index || kind == StoredKind::prediction_layer ||
         kind == StoredKind::other_tower;
}

// Notes what is set aside; Error for parameters without a place.
void account_for_rest(const std::vector<const StoredBytes*>& rest,
                      std::span<const StoredBytes> stored, const std::string& where,
                      std::vector<std::string>& notes) {
  std::vector<model::StoredTensor> all;
  all.reserve(stored.size());
  for (const StoredBytes& one : stored) all.push_back(one.tensor);
  const model::StoredKinds kinds(all);
  std::map<StoredKind, std::vector<std::string>> aside;
  std::vector<std::string> foreign;
  for (const StoredBytes* one : rest) {
    const StoredKind kind = kinds.of(one->tensor);
    (is_set_aside(kind) ? aside[kind] : foreign).push_back(one->tensor.name);
  }
  if (!foreign.empty()) {
    throw Error(where,
                fmt::format("holds {} that the model has no place for: {}", tensors(foreign.size()),
                            joined(foreign, 10)),
                "the config.json is of another model, or the weights have parts that cannot be "
                "trained here");
  }
  for (const auto& [kind, names] : aside) {
    notes.push_back(
        fmt::format("{} of {} not read: {}", tensors(names.size()), words(kind), joined(names, 3)));
  }
}

}  // namespace

PublishedMatch match_published(const std::vector<model::PublishedTensor>& wanted,
                               std::span<const StoredBytes> stored,
                               const model::ModelConfig& config, const std::string& where) {
  const Names names(wanted, config);
  PublishedMatch match;
  match.stored.assign(wanted.size(), nullptr);
  std::vector<const StoredBytes*> rest;
  const StoredBytes* tied_head = nullptr;
  for (const StoredBytes& one : stored) {
    const std::optional<std::size_t> at = names.find(one.tensor.name);
    const bool head = names.is_tied_head(one.tensor.name);
    if (!at.has_value() && !head) {
      rest.push_back(&one);
      continue;
    }
    const StoredBytes*& place = head ? tied_head : match.stored[*at];
    if (place != nullptr) {
      refuse_different_twins(*place, one, false, where);
      match.notes.push_back(
          fmt::format("'{:.120}' is stored again as '{:.120}', with the same values",
                      place->tensor.name, one.tensor.name));
    } else {
      place = &one;
    }
  }
  // The embedding is the first tensor of every model.
  if (tied_head != nullptr && match.stored.front() == nullptr) {
    match.stored.front() = tied_head;
    match.notes.push_back(
        fmt::format("'{:.120}' stands for the embedding it is tied to", tied_head->tensor.name));
  } else if (tied_head != nullptr) {
    refuse_different_twins(*match.stored.front(), *tied_head, true, where);
    match.notes.push_back(
        fmt::format("'{:.120}' repeats the embedding it is tied to", tied_head->tensor.name));
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (match.stored[i] == nullptr) missing.push_back(wanted[i].name);
  }
  if (!missing.empty()) {
    const bool only_head = missing.size() == 1 && !config.tied &&
                           missing.front() == model::published_head_name(config);
    throw Error(
        where,
        fmt::format("lacks {} of the model: {}", tensors(missing.size()), joined(missing, 20)),
        only_head ? "if the head is the embedding, config.json must say "
                    "\"tie_word_embeddings\": true"
                  : "the files are incomplete or of another model: fetch all of them");
  }
  account_for_rest(rest, stored, where, match.notes);
  return match;
}

}  // namespace fourhold::engine

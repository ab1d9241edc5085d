#include "fourhold/plan/recompute_policy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/quantity.h"

namespace fourhold::plan {
namespace {

using model::RecomputeGroup;

constexpr std::int64_t kAllLayers = -1;
constexpr std::string_view kField = "recompute";
constexpr std::string_view kLegal =
    "none, selective, selective:GROUP,... (of attention, norm, activation, experts, alternate, "
    "mlp, qkv), full, full:K, save:NAME,... (of qkv, context, out, mlpwi, mlpwo), or a set of "
    "those by its name in MaxText";

// In the order of the enum, which starts with `none`.
constexpr std::array<std::string_view, kRecomputeGroups> kGroupNames{
    "attention", "norm", "activation", "experts", "alternate", "mlp", "qkv"};

// In the order of the enum.
constexpr std::array<std::string_view, kSavedGroups> kSavedNames{"qkv", "context", "out", "mlpwi",
                                                                 "mlpwo"};

constexpr std::uint8_t bits(std::initializer_list<SavedGroup> groups) {
  unsigned set = 0;
  for (const SavedGroup group : groups) set |= 1U << static_cast<unsigned>(group);
  return static_cast<std::uint8_t>(set);
}

struct SavedSet {
  std::string_view name;
  std::uint8_t groups;
};

// AI-Hypercomputer/maxtext, src/MaxText/layers/decoders.py (get_remat_policy).
constexpr std::array kSavedSets{
    SavedSet{"minimal_with_context", bits({SavedGroup::qkv, SavedGroup::context, SavedGroup::out,
                                           SavedGroup::mlpwi, SavedGroup::mlpwo})},
    SavedSet{"minimal",
             bits({SavedGroup::qkv, SavedGroup::out, SavedGroup::mlpwi, SavedGroup::mlpwo})},
    SavedSet{"save_dot_with_context_except_mlp",
             bits({SavedGroup::qkv, SavedGroup::context, SavedGroup::out})},
    SavedSet{"save_dot_except_mlpwi", bits({SavedGroup::qkv, SavedGroup::out, SavedGroup::mlpwo})},
    SavedSet{"save_dot_except_mlp", bits({SavedGroup::qkv, SavedGroup::out})},
    SavedSet{"save_qkv_proj", bits({SavedGroup::qkv})},
    SavedSet{"save_out_proj", bits({SavedGroup::out})}};

// Sets that MaxText keeps in host memory, and what is nearest on the device.
struct OffloadedSet {
  std::string_view name;
  std::string_view nearest;
};
constexpr std::array kOffloadedSets{OffloadedSet{"qkv_proj_offloaded", "save_qkv_proj"},
                                    OffloadedSet{"minimal_offloaded", "minimal"}};

std::string_view name_of(RecomputeGroup group) {
  return kGroupNames[static_cast<std::size_t>(group) - 1];
}

[[noreturn]] void refuse(const std::string& fault, std::string_view near = {}) {
  std::string hint = near.empty() ? std::string() : std::string(near) + " ";
  throw Error(std::string(kField), fault, fmt::format("{}legal: {}", hint, kLegal));
}

RecomputePolicy full(std::int64_t layers) {
  RecomputePolicy policy;
  policy.kind = RecomputeKind::full;
  policy.full_layers = layers;
  return policy;
}

// Which of `names` a list between commas names. `what` is what they are names of.
template <std::size_t count>
std::array<bool, count> named_in(std::string_view list,
                                 const std::array<std::string_view, count>& names,
                                 std::string_view what) {
  std::array<bool, count> named{};
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, comma);
    const auto* found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
      refuse(fmt::format("'{:.40}' is not a {}", word, what),
             did_you_mean(word, {names.begin(), names.end()}));
    }
    bool& own = named[static_cast<std::size_t>(found - names.begin())];
    if (own) refuse(fmt::format("'{}' is named twice", word));
    own = true;
    if (comma == list.size()) return named;
    list.remove_prefix(comma + 1);
  }
}

RecomputePolicy saving(std::uint8_t groups) {
  RecomputePolicy policy;
  policy.kind = RecomputeKind::saved;
  policy.saved = groups;
  return policy;
}

RecomputePolicy saving_list(std::string_view list) {
  const auto named = named_in(list, kSavedNames, "name of what is saved");
  std::uint8_t groups = 0;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (named[i]) groups = static_cast<std::uint8_t>(groups | bits({static_cast<SavedGroup>(i)}));
  }
  return saving(groups);
}

RecomputePolicy selective(std::string_view list) {
  const auto dropped = named_in(list, kGroupNames, "group of operations");
  RecomputePolicy policy;
  policy.kind = RecomputeKind::selective;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i]) policy.groups.push_back(static_cast<RecomputeGroup>(i + 1));
  }
  return policy;
}

std::string saved_text(const RecomputePolicy& policy) {
  for (const SavedSet& set : kSavedSets) {
    if (set.groups == policy.saved) return std::string(set.name);
  }
  std::string text = "save:";
  for (std::size_t i = 0; i < kSavedNames.size(); ++i) {
    if (!policy.saves(static_cast<SavedGroup>(i))) continue;
    if (text.back() != ':') text += ',';
    text += kSavedNames[i];
  }
  return text;
}

}  // namespace

bool operator==(const RecomputePolicy& a, const RecomputePolicy& b) {
  return a.kind == b.kind && a.full_layers == b.full_layers && a.saved == b.saved &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end());
}

RecomputePolicy policy_of_layer(const RecomputePolicy& policy, std::int64_t index_on_rank) {
  if (policy.kind != RecomputeKind::full || policy.full_layers < 0) return policy;
  if (index_on_rank >= policy.full_layers) return {};
  return full(kAllLayers);
}

std::vector<std::string_view> saved_set_names() {
  std::vector<std::string_view> names;
  names.reserve(kSavedSets.size());
  for (const SavedSet& set : kSavedSets) names.push_back(set.name);
  return names;
}

RecomputePolicy recompute_from_string(std::string_view text) {
  constexpr std::string_view kSelective = "selective:";
  constexpr std::string_view kSave = "save:";
  constexpr std::string_view kFull = "full:";
  if (text == "none") return {};
  if (text == "selective") return selective(kGroupNames.front());
  if (text == "full") return full(kAllLayers);
  if (text.substr(0, kSelective.size()) == kSelective) {
    return selective(text.substr(kSelective.size()));
  }
  if (text.substr(0, kFull.size()) == kFull) {
    const std::string_view number = text.substr(kFull.size());
    std::int64_t layers = 0;
    try {
      layers = parse_count(number, std::string(kField));
    } catch (const Error& fault) {
      refuse(fmt::format("full:{:.40} names no layers: {}", number, fault.what()));
    }
    if (layers < 1) refuse("full:0 recomputes nothing", "write none.");
    return full(layers);
  }
  if (text.substr(0, kSave.size()) == kSave) return saving_list(text.substr(kSave.size()));
  for (const SavedSet& set : kSavedSets) {
    if (set.name == text) return saving(set.groups);
  }
  for (const OffloadedSet& set : kOffloadedSets) {
    if (set.name != text) continue;
    refuse(fmt::format("{} keeps activations in host memory, which no plan says", text),
           fmt::format("on the device it is {};", set.nearest));
  }
  std::vector<std::string_view> known = saved_set_names();
  known.insert(known.end(), {"none", "selective", "full"});
  refuse(fmt::format("'{:.40}' is not a recompute policy", text), did_you_mean(text, known));
}

std::string to_string(const RecomputePolicy& policy) {
  switch (policy.kind) {
    case RecomputeKind::none:
      return "none";
    case RecomputeKind::full:
      return policy.full_layers < 0 ? "full" : fmt::format("full:{}", policy.full_layers);
    case RecomputeKind::saved:
      return saved_text(policy);
    case RecomputeKind::selective:
      break;
  }
  if (policy.groups.size() == 1 && policy.drops(RecomputeGroup::attention)) return "selective";
  std::string text = "selective:";
  for (const RecomputeGroup group : policy.groups) {
    if (text.back() != ':') text += ',';
    text += name_of(group);
  }
  return text;
}

}  // namespace fourhold::plan

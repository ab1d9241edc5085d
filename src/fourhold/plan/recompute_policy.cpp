#include "fourhold/plan/recompute_policy.h"

#include <algorithm>
#include <array>
#include <cstddef>
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
    "mlp, "
    "qkv), full, full:K";

// In the order of the enum, which starts with `none`.
constexpr std::array<std::string_view, kRecomputeGroups> kGroupNames{
    "attention", "norm", "activation", "experts", "alternate", "mlp", "qkv"};

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

RecomputePolicy selective(std::string_view list) {
  std::array<bool, kGroupNames.size()> dropped{};
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, comma);
    const auto* found = std::find(kGroupNames.begin(), kGroupNames.end(), word);
    if (found == kGroupNames.end()) {
      refuse(fmt::format("'{:.40}' is not a group of operations", word),
             did_you_mean(word, {kGroupNames.begin(), kGroupNames.end()}));
    }
    bool& own = dropped[static_cast<std::size_t>(found - kGroupNames.begin())];
    if (own) refuse(fmt::format("'{}' is named twice", word));
    own = true;
    if (comma == list.size()) break;
    list.remove_prefix(comma + 1);
  }
  RecomputePolicy policy;
  policy.kind = RecomputeKind::selective;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i]) policy.groups.push_back(static_cast<RecomputeGroup>(i + 1));
  }
  return policy;
}

}  // namespace

bool operator==(const RecomputePolicy& a, const RecomputePolicy& b) {
  return a.kind == b.kind && a.full_layers == b.full_layers &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end());
}

RecomputePolicy policy_of_layer(const RecomputePolicy& policy, std::int64_t index_on_rank) {
  if (policy.kind != RecomputeKind::full || policy.full_layers < 0) return policy;
  if (index_on_rank >= policy.full_layers) return {};
  return full(kAllLayers);
}

RecomputePolicy recompute_from_string(std::string_view text) {
  constexpr std::string_view kSelective = "selective:";
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
  refuse(fmt::format("'{:.40}' is not a recompute policy", text),
         did_you_mean(text, {"none", "selective", "full"}));
}

std::string to_string(const RecomputePolicy& policy) {
  switch (policy.kind) {
    case RecomputeKind::none:
      return "none";
    case RecomputeKind::full:
      return policy.full_layers < 0 ? "full" : fmt::format("full:{}", policy.full_layers);
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

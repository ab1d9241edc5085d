#include "fourhold/plan/lora_targets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/model/parameters.h"

namespace fourhold::plan {
namespace {

using model::AdapterTarget;
using model::AdapterTargets;

constexpr std::string_view kSuffix = "_proj";

constexpr std::array<std::pair<std::string_view, AdapterTargets>, 4> kPresets{
    {{"all-linear", AdapterTargets::all()},
     {"attention",
      {AdapterTarget::q, AdapterTarget::k, AdapterTarget::v, AdapterTarget::kv, AdapterTarget::o}},
     {"attention-qv", {AdapterTarget::q, AdapterTarget::v}},
     {"mlp", {AdapterTarget::gate, AdapterTarget::up, AdapterTarget::down}}}};

std::vector<std::string_view> known_words() {
  std::vector<std::string_view> words;
  words.reserve(kPresets.size() + model::kAdapterTargetNames.size());
  for (const auto& preset : kPresets) words.push_back(preset.first);
  words.insert(words.end(), model::kAdapterTargetNames.begin(), model::kAdapterTargetNames.end());
  return words;
}

[[noreturn]] void refuse_word(std::string_view word) {
  const std::string near = did_you_mean(word, known_words());
  throw Error(
      "lora_targets", fmt::format("'{:.40}' is not a linear of a layer", word),
      fmt::format("{}{}legal: all-linear, attention, attention-qv, mlp, or a list of {}", near,
                  near.empty() ? "" : " ", fmt::join(model::kAdapterTargetNames, ",")));
}

AdapterTarget target_of(std::string_view word) {
  std::string_view plain = word;
  if (plain.size() > kSuffix.size() && plain.substr(plain.size() - kSuffix.size()) == kSuffix) {
    plain.remove_suffix(kSuffix.size());
  }
  const auto* found =
      std::find(model::kAdapterTargetNames.begin(), model::kAdapterTargetNames.end(), plain);
  if (found == model::kAdapterTargetNames.end()) refuse_word(word);
  return static_cast<AdapterTarget>(found - model::kAdapterTargetNames.begin());
}

}  // namespace

AdapterTargets lora_targets_from_string(std::string_view text) {
  for (const auto& [name, targets] : kPresets) {
    if (text == name) return targets;
  }
  AdapterTargets targets;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const AdapterTarget target = target_of(text.substr(0, comma));
    if (targets.contains(target)) {
      throw Error("lora_targets", fmt::format("'{}' is named twice", text.substr(0, comma)),
                  "name it once");
    }
    targets.add(target);
    if (comma == text.size()) return targets;
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const AdapterTargets& targets) {
  for (const auto& [name, preset] : kPresets) {
    if (targets == preset) return std::string(name);
  }
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < model::kAdapterTargetNames.size(); ++i) {
    if (targets.contains(static_cast<AdapterTarget>(i))) {
      names.push_back(model::kAdapterTargetNames[i]);
    }
  }
  return fmt::format("{}", fmt::join(names, ","));
}

AdapterTargets adapter_targets_of(const model::ModelConfig& config) {
  AdapterTargets targets;
  for (const model::LayerKind& kind : config.kinds) {
    for (const model::Parameter& parameter : model::layer_parameters(config, kind)) {
      if (const auto target = model::adapter_target(parameter.name)) targets.add(*target);
    }
  }
  return targets;
}

}  // namespace fourhold::plan

// Devices, profiles and models of many rows, each read once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "fourhold/hardware/catalogue.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/profile.h"

namespace fourhold::measured {

// Changes to what is read, for constants under trial: of a row's device with its network, and of
// every profile. Empty ones change nothing.
struct Adjustments {
  std::function<void(hardware::Device&)> device;
  std::function<void(plan::Profile&)> profile;
};

class Catalogue {
 public:
  Catalogue() = default;
  explicit Catalogue(Adjustments adjustments) : adjustments_(std::move(adjustments)) {}

  // Errors as the doors they stand for: load_device, load_profile, load_model.
  [[nodiscard]] const hardware::LoadedDevice& device(const std::string& name) {
    return found(devices_, name, [&name] { return hardware::load_device(name); });
  }
  [[nodiscard]] const plan::Profile& profile(const std::string& name) {
    return found(profiles_, name, [this, &name] {
      plan::Profile profile = plan::load_profile(name);
      if (adjustments_.profile) adjustments_.profile(profile);
      return profile;
    });
  }
  [[nodiscard]] const model::ModelConfig& model(const std::string& name);

  // To be called for a device whose network is known.
  void adjust(hardware::Device& device) const {
    if (adjustments_.device) adjustments_.device(device);
  }

 private:
  template <class Value, class Load>
  static const Value& found(std::map<std::string, Value>& known, const std::string& name,
                            Load&& load) {
    auto at = known.find(name);
    if (at == known.end()) at = known.emplace(name, load()).first;
    return at->second;
  }

  Adjustments adjustments_;
  std::map<std::string, hardware::LoadedDevice> devices_;
  std::map<std::string, plan::Profile> profiles_;
  std::map<std::string, model::ModelConfig> models_;
};

}  // namespace fourhold::measured

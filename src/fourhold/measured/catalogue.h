// Devices, profiles and models of many rows, each read once.
#pragma once

#include <map>
#include <string>

#include "fourhold/hardware/catalogue.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/profile.h"

namespace fourhold::measured {

class Catalogue {
 public:
  // Errors as the doors they stand for: load_device, load_profile, load_model.
  [[nodiscard]] const hardware::LoadedDevice& device(const std::string& name) {
    return found(devices_, name, [&name] { return hardware::load_device(name); });
  }
  [[nodiscard]] const plan::Profile& profile(const std::string& name) {
    return found(profiles_, name, [&name] { return plan::load_profile(name); });
  }
  [[nodiscard]] const model::ModelConfig& model(const std::string& name);

 private:
  template <class Value, class Load>
  static const Value& found(std::map<std::string, Value>& known, const std::string& name,
                            Load&& load) {
    auto at = known.find(name);
    if (at == known.end()) at = known.emplace(name, load()).first;
    return at->second;
  }

  std::map<std::string, hardware::LoadedDevice> devices_;
  std::map<std::string, plan::Profile> profiles_;
  std::map<std::string, model::ModelConfig> models_;
};

}  // namespace fourhold::measured

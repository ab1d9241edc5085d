// The constants that are fitted: data/calibration/constants.json.
#pragma once

#include <string>
#include <vector>

#include "fourhold/hardware/device.h"
#include "fourhold/plan/profile.h"

namespace fourhold::calibrate {

// A place that takes a constant's value: a field of devices or profiles whose name matches.
struct Target {
  std::string kind;  // "device", "profile" or "network" (an inter_node link of that name)
  std::string name;  // exact, or ending in '*'
  std::string field;
  double times = 1;  // the field is this many times the constant
};

struct Constant {
  std::string name;
  std::string meaning;
  double prior = 0;
  double sigma = 0;  // of the logarithm
  double least = 0;
  double most = 1e9;
  std::vector<Target> targets;
};

[[nodiscard]] std::vector<Constant> read_constants(const std::string& file);

// Puts the values into a device or a profile. Throws Error for a field that is not known.
void apply(const std::vector<Constant>& constants, const std::vector<double>& values,
           hardware::Device& device);
void apply(const std::vector<Constant>& constants, const std::vector<double>& values,
           plan::Profile& profile);

}  // namespace fourhold::calibrate

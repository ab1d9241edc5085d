// The built-in devices, and the one door through which a name or a file becomes a Device.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fourhold/base/embedded.h"
#include "fourhold/hardware/device.h"

namespace fourhold::hardware {

// data/hardware/*.json, sorted by name.
[[nodiscard]] std::span<const EmbeddedFile> embedded_devices();

// The names of the built-in devices, sorted.
[[nodiscard]] std::vector<std::string> device_names();

struct LoadedDevice {
  Device device;
  std::vector<std::string>
      notes;  // what was assumed for an ambiguous name, and the device's own note
};

// A built-in device, by name or alias, or the user's device file. Names match whatever their case
// and separators, with or without the vendor ("NVIDIA A100-SXM4-80GB"). A name that several devices
// share
// ("a100") is taken as the one whose default_of lists it, and a note says which others there are.
// What holds a '/' or ends in ".json" is a file. Error with near matches for anything unknown.
[[nodiscard]] LoadedDevice load_device(const std::string& name_or_path);

}  // namespace fourhold::hardware

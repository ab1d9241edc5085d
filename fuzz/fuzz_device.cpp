// Any bytes as a device file: refused with an Error, or a device that survives writing and reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/hardware/device_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace hardware = fourhold::hardware;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hardware::Device device;
  try {
    device = hardware::parse_device(text, "fuzz");
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
    return 0;
  }
  // What was accepted must be accepted again: an Error from here on is a finding.
  const std::string written = fourhold::json::write(hardware::device_json(device));
  const hardware::Device again = hardware::parse_device(written, "written");
  if (again.usable != device.usable || again.name != device.name) std::abort();
  if (device.usable.count() < 1 || device.devices_per_node < 1) std::abort();
  return 0;
}

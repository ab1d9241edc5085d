// How many devices there are, and of what kind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/base/checked.h"
#include "fourhold/hardware/device.h"

namespace fourhold::hardware {

// Equal devices in nodes of equal size. Devices that differ are planned as the weakest of them,
// because every split this program knows gives equal shares; `warnings` says so.
struct Cluster {
  Device device;
  std::int64_t count = 1;
  std::int64_t devices_per_node = 1;
  std::vector<std::string> warnings;

  [[nodiscard]] std::int64_t node_count() const { return ceil_divide(count, devices_per_node); }
};

struct DeviceGroup {
  Device device;
  std::int64_t count = 1;
};

// `count` equal devices in nodes of their own size. Error unless count is at least 1.
[[nodiscard]] Cluster uniform_cluster(Device device, std::int64_t count);

// Groups of possibly different devices: the least of each fact is taken, and memory, the fact that
// decides, is named in a warning. Error when there is no group, or a group without a device.
[[nodiscard]] Cluster mixed_cluster(const std::vector<DeviceGroup>& groups);

}  // namespace fourhold::hardware

// A connection as one device sees it.
#pragma once

#include <string>

namespace fourhold::hardware {

struct Link {
  std::string name;             // "NVLink 3", "PCIe 5.0 x16", "InfiniBand NDR"
  double bytes_per_second = 0;  // peak, one way, per device; 0 = there is none
  double latency_seconds = 0;   // start of one transfer

  [[nodiscard]] bool exists() const { return bytes_per_second > 0; }
  friend bool operator==(const Link&, const Link&) = default;
};

}  // namespace fourhold::hardware

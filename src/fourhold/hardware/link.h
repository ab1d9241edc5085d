// A connection as one device sees it.
#pragma once

#include <string>

namespace fourhold::hardware {

// What a file that names only a link's peak leaves open: a share and a start that fitted runs over
// NVLink show (data/hardware/SOURCES.md), far from the best and from the worst.
inline constexpr double kAssumedLinkShare = 0.7;
inline constexpr double kAssumedCollectiveStartSeconds = 20e-6;
inline constexpr double kAssumedHopSeconds = 0.5e-6;

struct Link {
  std::string name;                  // "NVLink 3", "PCIe 5.0 x16", "InfiniBand NDR"
  double bytes_per_second = 0;       // peak, one way, per device; 0 = there is none
  double latency_seconds = 0;        // start of one transfer
  double share = kAssumedLinkShare;  // of the peak that large collectives sustain
  double start_seconds = kAssumedCollectiveStartSeconds;  // of one collective over this link
  double hop_seconds = kAssumedHopSeconds;                // for each further member of its ring

  [[nodiscard]] bool exists() const { return bytes_per_second > 0; }
  [[nodiscard]] double sustained_bytes_per_second() const { return bytes_per_second * share; }
  friend bool operator==(const Link&, const Link&) = default;
};

}  // namespace fourhold::hardware

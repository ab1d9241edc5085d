// What one accelerator (or one CPU socket) is: the facts a plan needs, each with where it is from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/base/units.h"
#include "fourhold/hardware/link.h"
#include "fourhold/hardware/sustained.h"

namespace fourhold::hardware {

// Dense matrix peaks in FLOP/s, without structured sparsity; 0 = the device has no such arithmetic,
// or nobody publishes its rate.
struct PeakFlops {
  double fp32 = 0;
  double tf32 = 0;
  double bf16 = 0;
  double fp16 = 0;
  double fp8 = 0;
  double fp4 = 0;
  friend bool operator==(const PeakFlops&, const PeakFlops&) = default;
};

struct Device {
  std::string name;                     // lower case: "a100-sxm-80gb"
  std::vector<std::string> aliases;     // other spellings of exactly this device
  std::vector<std::string> default_of;  // ambiguous spellings that are taken as this device
  std::string vendor;
  std::string form;             // "SXM4", "PCIe", "NVL72" ...
  std::string generation;       // "Ampere", "CDNA 3" ...; empty: not known
  std::string note;             // what a user must know to read its numbers; may be empty
  std::string default_profile;  // of runs on it that name none; empty: the general default

  // What a program can allocate before it makes a context: never the marketing figure.
  Bytes usable;
  std::int64_t nominal_gb = 0;  // the marketing figure, for display only

  double compute_capability = 0;  // of CUDA: 9.0 is Hopper; 0 = unknown, or another maker's

  PeakFlops peak_flops;
  double memory_bandwidth_bytes_per_second = 0;
  SustainedShares sustained;                      // with 16-bit operands
  std::optional<SustainedShares> sustained_fp32;  // with fp32 operands, where they differ
  std::int64_t devices_per_node = 1;              // devices joined by intra_node
  Link intra_node;                                // to the other devices of its node
  Link inter_node;                                // the device's share of its node's network ports
  Bytes host_memory;  // the device's share of a typical node's memory; 0 = unknown
  Link host_link;     // to that memory
  std::optional<double>
      price_usd_per_hour;  // public list price of one device; the user may override

  // Field name and where its value is from, in the order of the file.
  std::vector<std::pair<std::string, std::string>> sources;

  // The text for that field, or "".
  [[nodiscard]] std::string_view source_of(std::string_view field) const;
};

// The peak of matrix products with operands of that type; 0 when the device has none.
[[nodiscard]] double peak_flops(const Device& device, DType dtype);

// A device of which nothing is known but its memory (--memory 24GiB): no time can be predicted on
// it. Error above kMostBytes, the bound that device files have.
[[nodiscard]] Device memory_only_device(Bytes usable);

}  // namespace fourhold::hardware

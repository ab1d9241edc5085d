#include "fourhold/measured/row_cluster.h"

#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/measured/known_network.h"
#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kGiga = 1e9;
// What Ethernet and Omni-Path sustain, and their start (data/hardware/SOURCES.md, sustained).
constexpr double kEthernetShare = 0.525;
constexpr double kEthernetStartSeconds = 0.5e-3;

// "4x100Gb" in the notes: ports of a node and their speed.
std::optional<double> ports_bytes_per_second(std::string_view notes) {
  for (std::size_t at = notes.find('x'); at != std::string_view::npos;
       at = notes.find('x', at + 1)) {
    if (at == 0 || std::isdigit(static_cast<unsigned char>(notes[at - 1])) == 0) continue;
    const double ports = notes[at - 1] - '0';
    const std::optional<std::int64_t> speed = number_behind(notes.substr(at), "x");
    if (!speed) continue;
    const std::size_t behind = at + 1 + std::to_string(*speed).size();
    if (notes.substr(behind, 2) != "Gb") continue;
    return ports * static_cast<double>(*speed) * kGiga / kBitsPerByte;
  }
  return std::nullopt;
}

void set_network(const MeasuredRow& row, hardware::Device& device) {
  hardware::Link& link = device.inter_node;
  if (const hardware::Link* known = known_network(row.family())) {
    const double latency_seconds = link.latency_seconds;
    link = *known;
    link.latency_seconds = latency_seconds;
    return;
  }
  const std::optional<double> node = ports_bytes_per_second(row.notes);
  if (!node) return;
  link.name = "network of the row's notes";
  link.bytes_per_second = *node / static_cast<double>(device.devices_per_node);
  if (row.says("RoCE")) {
    link.share = kEthernetShare;
    link.start_seconds = kEthernetStartSeconds;
  }
}

// A name may stand for several sizes of memory; the row's own column says which.
hardware::LoadedDevice device_of(const MeasuredRow& row, Catalogue& catalogue) {
  constexpr double kAlike = 0.15;  // nominal sizes are told in several ways
  const auto is_alike = [&row](const hardware::Device& device) {
    const auto nominal = static_cast<double>(device.nominal_gb);
    return !row.gpu_mem_gib || nominal <= 0 || std::abs(*row.gpu_mem_gib / nominal - 1) <= kAlike;
  };
  hardware::LoadedDevice named = catalogue.device(row.gpu);
  if (is_alike(named.device)) return named;
  try {
    hardware::LoadedDevice sized =
        catalogue.device(fmt::format("{}-{:.0f}GB", row.gpu, *row.gpu_mem_gib));
    if (is_alike(sized.device)) return sized;
  } catch (const Error&) {
    // There is none of that size.
  }
  throw Error("gpu_mem_gib",
              fmt::format("is {:g}, and {} has {} GB", *row.gpu_mem_gib, named.device.name,
                          named.device.nominal_gb),
              "check the row");
}

}  // namespace

void read_cluster(const MeasuredRow& row, RowDraft& draft) {
  if (row.gpu.empty()) {
    draft.findings.lacks("gpu");
    return;
  }
  hardware::LoadedDevice loaded;
  try {
    loaded = device_of(row, draft.catalogue);
  } catch (const Error& fault) {
    if (fault.where() == "gpu_mem_gib") throw;
    draft.findings.lacks(fmt::format("what the device '{}' is", row.gpu));
    return;
  }
  for (const std::string& note : loaded.notes) draft.findings.assumes(note);
  set_network(row, loaded.device);
  draft.catalogue.adjust(loaded.device);
  draft.cluster = hardware::uniform_cluster(std::move(loaded.device), row.num_gpus.value_or(1));
}

}  // namespace fourhold::measured

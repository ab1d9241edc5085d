#include "fourhold/api/target.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/hardware/catalogue.h"

namespace fourhold::api {
namespace {

[[noreturn]] void refuse_gap() {
  throw Error("--device", "names no device in one of its parts",
              "list devices as h100-sxm-80gb,h200");
}

// The "2x" of "2xa100", or "".
std::string_view count_prefix(std::string_view part) {
  const std::size_t digits = std::min(part.find_first_not_of("0123456789"), part.size());
  const bool counts = digits > 0 && digits < part.size() && part[digits] == 'x';
  return part.substr(0, counts ? digits + 1 : 0);
}

// "2xa100" is two of them.
hardware::DeviceGroup group_of(std::string_view part, std::vector<std::string>& notes) {
  hardware::DeviceGroup group;
  if (const std::string_view prefix = count_prefix(part); !prefix.empty()) {
    group.count = parse_count(prefix.substr(0, prefix.size() - 1), "--device");
    part.remove_prefix(prefix.size());
  }
  if (part.empty()) refuse_gap();
  hardware::LoadedDevice loaded = hardware::load_device(std::string(part));
  group.device = std::move(loaded.device);
  for (std::string& note : loaded.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
      notes.push_back(std::move(note));
    }
  }
  return group;
}

}  // namespace

std::vector<std::string> device_parts(std::string_view list) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (parts.back().empty()) refuse_gap();
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

std::string exact_devices(std::string_view list) {
  std::string exact;
  for (const std::string& part : device_parts(list)) {
    const std::string_view prefix = count_prefix(part);
    const std::string name = part.substr(prefix.size());
    if (name.empty()) refuse_gap();
    exact += fmt::format("{}{}", exact.empty() ? "" : ",", prefix);
    std::error_code fault;
    exact += std::filesystem::is_regular_file(name, fault)
                 ? name
                 : hardware::load_device(name).device.name;
  }
  return exact;
}

std::string nearest_device(Bytes memory) {
  std::string nearest;
  Bytes least;
  for (const std::string& name : hardware::device_names()) {
    const hardware::Device device = hardware::load_device(name).device;
    if (device.peak_flops.bf16 == 0 && device.peak_flops.fp16 == 0) continue;
    const Bytes distance = device.usable > memory ? device.usable - memory : memory - device.usable;
    if (!nearest.empty() && distance >= least) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

std::optional<Target> load_target(const TargetRequest& request) {
  if (request.device.empty() && !request.memory) return std::nullopt;
  Target target;
  if (request.device.empty()) {
    target.cluster = hardware::uniform_cluster(hardware::memory_only_device(*request.memory), 1);
    target.listed = 1;
    return target;
  }
  std::vector<hardware::DeviceGroup> groups;
  for (const std::string& part : device_parts(request.device)) {
    groups.push_back(group_of(part, target.notes));
    target.listed = checked_add(target.listed, groups.back().count);
  }
  target.cluster = hardware::mixed_cluster(groups);
  for (const std::string& warning : target.cluster.warnings) target.notes.push_back(warning);
  if (request.memory) {
    target.notes.push_back(fmt::format("{}: taken to have {} instead of {}",
                                       target.cluster.device.name, format_bytes(*request.memory),
                                       format_bytes(target.cluster.device.usable)));
    target.cluster.device.usable = *request.memory;
  }
  return target;
}

predict::Capacity capacity_of(const Target& target, const TargetRequest& request,
                              std::int64_t devices) {
  const hardware::Device& device = target.cluster.device;
  predict::Capacity capacity;
  capacity.usable_bytes = device.usable;
  capacity.devices_per_node = target.cluster.devices_per_node;
  capacity.headroom = request.headroom.value_or(request.sure_headroom);
  if (request.host_memory) {
    capacity.node_host_bytes = *request.host_memory;
    // A device that is nothing but memory says nothing of nodes: all devices share the one given.
    capacity.host_sharers =
        request.device.empty() ? std::numeric_limits<std::int64_t>::max() : device.devices_per_node;
    return predict::over_devices(capacity, devices);
  }
  if (device.host_memory > Bytes(0)) {
    capacity.host_bytes = device.host_memory;
  }
  return capacity;
}

}  // namespace fourhold::api

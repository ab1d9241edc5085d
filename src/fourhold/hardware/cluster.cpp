#include "fourhold/hardware/cluster.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"

namespace fourhold::hardware {
namespace {

void require_devices(std::int64_t count) {
  if (count >= 1) return;
  throw Error("count", fmt::format("is {}; a cluster has at least 1 device", count),
              "the nearest valid value is 1");
}

void take_least(Link& link, const Link& other) {
  if (other.bytes_per_second < link.bytes_per_second) link = other;
}

void take_least(SustainedShares& shares, const SustainedShares& other) {
  const auto stated = [](double share, double otherwise) { return share > 0 ? share : otherwise; };
  if (stated(other.narrow_matmul, other.matmul) < stated(shares.narrow_matmul, shares.matmul)) {
    shares.narrow_matmul = other.narrow_matmul;
    shares.matmul_bytes_per_flop = other.matmul_bytes_per_flop;
    shares.narrow_bytes_per_flop = other.narrow_bytes_per_flop;
  }
  shares.elementwise =
      std::min(stated(shares.elementwise, shares.memory), stated(other.elementwise, other.memory));
  shares.update =
      std::min(stated(shares.update, shares.memory), stated(other.update, other.memory));
  shares.matmul = std::min(shares.matmul, other.matmul);
  shares.memory = std::min(shares.memory, other.memory);
  AttentionShares& attention = shares.attention;
  attention.unfused = std::min(attention.unfused, other.attention.unfused);
  attention.flash_1 = std::min(attention.flash_1, other.attention.flash_1);
  attention.triton = std::min(attention.triton, other.attention.triton);
  attention.flash_2 = std::min(attention.flash_2, other.attention.flash_2);
  attention.flash_3 = std::min(attention.flash_3, other.attention.flash_3);
  attention.backward = std::min(attention.backward, other.attention.backward);
  shares.kernel_start_seconds = std::max(shares.kernel_start_seconds, other.kernel_start_seconds);
}

// What a lock step of unequal devices can count on: the least of each fact.
void take_least(Device& device, const Device& other) {
  device.usable = std::min(device.usable, other.usable);
  // A newer device has larger workspaces for matrix products; unknown counts as the newest.
  const bool known = device.compute_capability > 0 && other.compute_capability > 0;
  device.compute_capability =
      known ? std::max(device.compute_capability, other.compute_capability) : 0;
  PeakFlops& peak = device.peak_flops;
  peak.fp32 = std::min(peak.fp32, other.peak_flops.fp32);
  peak.tf32 = std::min(peak.tf32, other.peak_flops.tf32);
  peak.bf16 = std::min(peak.bf16, other.peak_flops.bf16);
  peak.fp16 = std::min(peak.fp16, other.peak_flops.fp16);
  peak.fp8 = std::min(peak.fp8, other.peak_flops.fp8);
  peak.fp4 = std::min(peak.fp4, other.peak_flops.fp4);
  device.memory_bandwidth_bytes_per_second =
      std::min(device.memory_bandwidth_bytes_per_second, other.memory_bandwidth_bytes_per_second);
  if (device.sustained_fp32.has_value() || other.sustained_fp32.has_value()) {
    SustainedShares fp32 = device.sustained_fp32.value_or(device.sustained);
    take_least(fp32, other.sustained_fp32.value_or(other.sustained));
    device.sustained_fp32 = fp32;
  }
  take_least(device.sustained, other.sustained);
  device.devices_per_node = std::min(device.devices_per_node, other.devices_per_node);
  device.host_memory = std::min(device.host_memory, other.host_memory);
  take_least(device.intra_node, other.intra_node);
  take_least(device.inter_node, other.inter_node);
  take_least(device.host_link, other.host_link);
}

std::string mixture_warning(const std::vector<DeviceGroup>& groups, const Device& weakest) {
  std::string list;
  for (const DeviceGroup& group : groups) {
    list += fmt::format("{}{} x {} ({})", list.empty() ? "" : ", ", group.count, group.device.name,
                        format_bytes(group.device.usable));
  }
  return fmt::format(
      "the devices differ: {}; shares are equal, so each is planned as the smallest, {} with {}",
      list, weakest.name, format_bytes(weakest.usable));
}

}  // namespace

Cluster uniform_cluster(Device device, std::int64_t count) {
  require_devices(count);
  Cluster cluster;
  cluster.devices_per_node = device.devices_per_node;
  cluster.device = std::move(device);
  cluster.count = count;
  return cluster;
}

Cluster mixed_cluster(const std::vector<DeviceGroup>& groups) {
  if (groups.empty()) {
    throw Error("device", "is missing", "name a device; `fourhold hardware` lists them");
  }
  std::size_t smallest = 0;
  std::int64_t count = 0;
  double price = 0;
  bool all_priced = true;
  bool differ = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const DeviceGroup& group = groups[i];
    require_devices(group.count);
    count = checked_add(count, group.count);
    if (group.device.usable < groups[smallest].device.usable) smallest = i;
    differ = differ || group.device.name != groups.front().device.name;
    all_priced = all_priced && group.device.price_usd_per_hour.has_value();
    price += group.device.price_usd_per_hour.value_or(0) * static_cast<double>(group.count);
  }
  Device device = groups[smallest].device;
  if (!differ) return uniform_cluster(std::move(device), count);

  for (const DeviceGroup& group : groups) take_least(device, group.device);
  device.price_usd_per_hour =
      all_priced ? std::optional(price / static_cast<double>(count)) : std::nullopt;
  Cluster cluster = uniform_cluster(std::move(device), count);
  cluster.warnings.push_back(mixture_warning(groups, cluster.device));
  return cluster;
}

}  // namespace fourhold::hardware

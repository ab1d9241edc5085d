#include "fourhold/api/hardware.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/api/run_json.h"
#include "fourhold/api/run_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/hardware/catalogue.h"
#include "fourhold/hardware/device_file.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

using hardware::Device;

std::string tera(double flops) {
  return flops > 0 ? fmt::format("{:.4g}", flops / 1e12) : std::string("-");
}

std::string price_text(const Device& device) {
  return device.price_usd_per_hour ? fmt::format("{:.2f}", *device.price_usd_per_hour)
                                   : std::string("-");
}

std::string list_text(const HardwareResult& result, const report::Screen& screen) {
  report::Table table({{"name"},
                       {"usable", report::Align::right},
                       {"sold as", report::Align::right},
                       {"bf16 TFLOP/s", report::Align::right},
                       {"GB/s", report::Align::right},
                       {"per node", report::Align::right},
                       {"USD/h", report::Align::right}});
  for (const Device& device : result.devices) {
    table.add({device.name, fmt::format("{:.2f} GiB", device.usable.gib()),
               device.nominal_gb > 0 ? fmt::format("{} GB", device.nominal_gb) : "-",
               tera(device.peak_flops.bf16),
               fmt::format("{:.0f}", device.memory_bandwidth_bytes_per_second / 1e9),
               std::to_string(device.devices_per_node), price_text(device)});
  }
  std::string text = fmt::format(
      "{} built-in devices; a device file or --memory 24GiB works too.\n", result.devices.size());
  text += "usable: what can be allocated, not what is sold; TFLOP/s dense; USD list price.\n";
  text += "`fourhold hardware NAME` shows one with its sources.\n\n";
  return text + table.text(screen);
}

std::string link_text(const hardware::Link& link) {
  if (!link.exists()) return "none";
  return fmt::format("{}, {:.4g} GB/s one way, {:.3g} us", link.name, link.bytes_per_second / 1e9,
                     link.latency_seconds * 1e6);
}

std::string device_text(const Device& device, const report::Screen& screen) {
  const hardware::PeakFlops& peak = device.peak_flops;
  std::string text = report::wrapped(fmt::format("{}: {} usable, sold as {} GB", device.name,
                                                 format_bytes(device.usable), device.nominal_gb),
                                     screen.columns);
  if (!device.note.empty()) text += report::wrapped(device.note, screen.columns);
  report::Table table({{""}, {""}, {"source", report::Align::left, report::WhenTight::wrap}});
  const auto add = [&](std::string name, std::string value, std::string_view field) {
    table.add({std::move(name), std::move(value), std::string(device.source_of(field))});
  };
  add("usable", format_bytes(device.usable), "usable_bytes");
  add("fp32", tera(peak.fp32) + " TFLOP/s", "peak_flops");
  add("tf32", tera(peak.tf32) + " TFLOP/s", "");
  add("bf16", tera(peak.bf16) + " TFLOP/s", "");
  add("fp16", tera(peak.fp16) + " TFLOP/s", "");
  add("fp8", tera(peak.fp8) + " TFLOP/s", "");
  add("memory", fmt::format("{:.0f} GB/s", device.memory_bandwidth_bytes_per_second / 1e9),
      "memory_bandwidth_bytes_per_second");
  add("per node", std::to_string(device.devices_per_node), "devices_per_node");
  add("host memory", device.host_memory > Bytes(0) ? format_bytes(device.host_memory) : "-",
      "host_memory_bytes");
  add("USD per hour", price_text(device), "price_usd_per_hour");
  text += "\n" + table.text(screen);
  const auto link = [&](std::string_view name, const hardware::Link& one, std::string_view field) {
    const std::string_view source = device.source_of(field);
    text +=
        report::wrapped(fmt::format("{}{}{}", link_text(one), source.empty() ? "" : ": ", source),
                        screen.columns, report::padded_right(name, 12) + "  ");
  };
  link("in the node", device.intra_node, "intra_node");
  link("to others", device.inter_node, "inter_node");
  link("to the host", device.host_link, "host_link");
  return text;
}

}  // namespace

HardwareResult list_hardware(const HardwareRequest& request) {
  HardwareResult result;
  if (!request.device.empty()) {
    hardware::LoadedDevice loaded = hardware::load_device(request.device);
    result.devices.push_back(std::move(loaded.device));
    result.notes = std::move(loaded.notes);
    return result;
  }
  for (const EmbeddedFile& file : hardware::embedded_devices()) {
    result.devices.push_back(hardware::parse_device(file.text, std::string(file.name)));
  }
  return result;
}

json::Value to_json(const HardwareResult& result) {
  json::Array devices;
  for (const Device& device : result.devices) devices.push_back(hardware::device_json(device));
  return json::Object{{"schema", "fourhold.hardware/1"},
                      {"devices", std::move(devices)},
                      {"notes", texts_json(result.notes)}};
}

std::string to_text(const HardwareResult& result, const report::Screen& screen) {
  if (result.devices.size() == 1) return device_text(result.devices.front(), screen);
  return list_text(result, screen);
}

}  // namespace fourhold::api

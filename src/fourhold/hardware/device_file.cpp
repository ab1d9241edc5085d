#include "fourhold/hardware/device_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/quantity.h"
#include "fourhold/base/text_file.h"

namespace fourhold::hardware {
namespace {

constexpr std::int64_t kMaxFileBytes = 1 << 20;
constexpr double kMaxRate = 1e21;  // far above anything that exists
constexpr std::int64_t kMaxDevicesPerNode = 1 << 20;

constexpr NumberRange kShareRange{1e-3, 1};  // nothing that works at all sustains less
constexpr NumberRange kCachedRange{0, 1e3};  // caches can be far faster than memory

constexpr std::string_view kPriceField = "price_usd_per_hour";
constexpr std::array<std::string_view, 13> kSourcedFields{
    "usable_bytes", "nominal_gb",     "peak_flops",        "memory_bandwidth_bytes_per_second",
    "sustained",    "sustained_fp32", "devices_per_node",  "compute_capability",
    "intra_node",   "inter_node",     "host_memory_bytes", "host_link",
    kPriceField};

// A byte count as an integer, or as text with a unit.
std::optional<Bytes> read_bytes(FieldReader& reader, std::string_view key, std::int64_t least) {
  const json::Value* value = reader.value(key);
  if (value == nullptr) return std::nullopt;
  const IntegerRange range{least, kMostBytes.count()};
  if (value->is_string()) {
    const Bytes bytes = parse_bytes(value->string(), reader.path(key));
    return Bytes(integer_of(json::Value(bytes.count()), reader.path(key), range));
  }
  return Bytes(integer_of(*value, reader.path(key), range));
}

Link read_link(FieldReader& reader, std::string_view key) {
  Link link;
  std::optional<FieldReader> fields = reader.object(key);
  if (!fields.has_value()) return link;
  link.name = fields->required_string("name");
  link.bytes_per_second = fields->required_number("bytes_per_second", {0, kMaxRate});
  link.latency_seconds = fields->number("latency_seconds", {0, 3600}).value_or(0);
  link.share = fields->number("share", kShareRange).value_or(link.share);
  link.start_seconds = fields->number("start_seconds", {0, 3600}).value_or(link.start_seconds);
  link.hop_seconds = fields->number("hop_seconds", {0, 3600}).value_or(link.hop_seconds);
  fields->refuse_unread();
  return link;
}

PeakFlops read_peaks(FieldReader& reader) {
  std::optional<FieldReader> fields = reader.object("peak_flops");
  if (!fields.has_value()) {
    throw Error(reader.path("peak_flops"), "is missing",
                "add it, for example \"peak_flops\": {\"fp32\": 19.5e12, \"bf16\": 312e12}");
  }
  const NumberRange range{0, kMaxRate};
  PeakFlops peaks;
  peaks.fp32 = fields->number("fp32", range).value_or(0);
  peaks.tf32 = fields->number("tf32", range).value_or(0);
  peaks.bf16 = fields->number("bf16", range).value_or(0);
  peaks.fp16 = fields->number("fp16", range).value_or(0);
  peaks.fp8 = fields->number("fp8", range).value_or(0);
  peaks.fp4 = fields->number("fp4", range).value_or(0);
  fields->refuse_unread();
  if (peaks == PeakFlops{}) {
    throw Error(reader.path("peak_flops"), "has no rate above 0",
                "give the dense peak in FLOP/s of fp32, tf32, bf16, fp16, fp8 or fp4");
  }
  return peaks;
}

AttentionShares read_attention(FieldReader& reader) {
  std::optional<FieldReader> fields = reader.object("attention");
  if (!fields.has_value()) return SustainedShares{}.attention;
  AttentionShares shares;
  shares.unfused = fields->number("unfused", kShareRange).value_or(shares.unfused);
  const NumberRange known{0, 1};  // 0 as in a written file: not known
  shares.flash_1 = fields->number("flash_1", known).value_or(0);
  shares.triton = fields->number("triton", known).value_or(0);
  shares.flash_2 = fields->number("flash_2", known).value_or(0);
  shares.flash_3 = fields->number("flash_3", known).value_or(0);
  shares.backward = fields->number("backward", {1e-3, 1e3}).value_or(shares.backward);
  fields->refuse_unread();
  if (shares.flash_1 + shares.triton + shares.flash_2 + shares.flash_3 <= 0) {
    throw Error(reader.path("attention"), "has no share of a fused kernel",
                "give flash_1, triton, flash_2 or flash_3, for example \"flash_2\": 0.5");
  }
  return shares;
}

void read_narrow(FieldReader& reader, SustainedShares& sustained) {
  sustained.narrow_matmul = reader.number("narrow_matmul", {0, 1}).value_or(0);
  const NumberRange bytes{0, 1e6};
  sustained.matmul_bytes_per_flop = reader.number("matmul_bytes_per_flop", bytes).value_or(0);
  sustained.narrow_bytes_per_flop = reader.number("narrow_bytes_per_flop", bytes).value_or(0);
  const bool ordered = sustained.narrow_bytes_per_flop > sustained.matmul_bytes_per_flop;
  if (sustained.narrow_matmul > 0 && !ordered) {
    throw Error(reader.path("narrow_bytes_per_flop"), "is not above matmul_bytes_per_flop",
                "give the operands' bytes per FLOP of the narrow and of the large products");
  }
}

std::optional<SustainedShares> read_sustained(FieldReader& reader, std::string_view key) {
  std::optional<FieldReader> fields = reader.object(key);
  if (!fields.has_value()) return std::nullopt;
  SustainedShares sustained;
  sustained.matmul = fields->number("matmul", kShareRange).value_or(sustained.matmul);
  sustained.low_precision =
      fields->number("low_precision", kShareRange).value_or(sustained.low_precision);
  sustained.memory = fields->number("memory", kShareRange).value_or(sustained.memory);
  read_narrow(*fields, sustained);
  sustained.elementwise = fields->number("elementwise", kCachedRange).value_or(0);
  sustained.update = fields->number("update", kCachedRange).value_or(0);
  sustained.attention = read_attention(*fields);
  sustained.kernel_start_seconds =
      fields->number("kernel_start_seconds", {0, 1}).value_or(sustained.kernel_start_seconds);
  fields->refuse_unread();
  return sustained;
}

void read_sources(FieldReader& reader, Device& device) {
  const json::Value* value = reader.value("sources");
  if (value == nullptr) return;
  const std::vector<std::string_view> known(kSourcedFields.begin(), kSourcedFields.end());
  const FieldReader fields(*value, reader.path("sources"));
  for (const auto& [field, source] : value->object()) {
    if (std::find(known.begin(), known.end(), field) == known.end()) {
      const std::string near = did_you_mean(field, known);
      throw Error(fields.path(fmt::format("{:.60}", field)), "is not a field that has a source",
                  near.empty() ? fmt::format("they are {}", fmt::join(known, ", ")) : near);
    }
    device.sources.emplace_back(field, string_of(source, fields.path(field)));
  }
}

std::string required_name(FieldReader& reader) {
  std::string name = reader.required_string("name");
  if (name.empty()) throw Error(reader.path("name"), "is empty", "give the device a name");
  return name;
}

Device read_fields(FieldReader& reader) {
  Device device;
  device.name = required_name(reader);
  device.aliases = reader.strings("aliases").value_or(std::vector<std::string>{});
  device.default_of = reader.strings("default_of").value_or(std::vector<std::string>{});
  device.vendor = reader.string("vendor").value_or("");
  device.form = reader.string("form").value_or("");
  device.generation = reader.string("generation").value_or("");
  device.note = reader.string("note").value_or("");
  device.default_profile = reader.string("default_profile").value_or("");

  const std::optional<Bytes> usable = read_bytes(reader, "usable_bytes", 1);
  if (!usable.has_value()) {
    throw Error(reader.path("usable_bytes"), "is missing",
                "add what a program can allocate, for example \"usable_bytes\": \"23.7GiB\"");
  }
  device.usable = *usable;
  device.nominal_gb = reader.integer("nominal_gb", {0, kMostBytes.count()})
                          .value_or(std::llround(device.usable.gb()));
  device.compute_capability = reader.number("compute_capability", {1, 100}).value_or(0);
  device.peak_flops = read_peaks(reader);
  device.memory_bandwidth_bytes_per_second =
      reader.required_number("memory_bandwidth_bytes_per_second", {1, kMaxRate});
  device.sustained = read_sustained(reader, "sustained").value_or(SustainedShares{});
  device.sustained_fp32 = read_sustained(reader, "sustained_fp32");
  device.devices_per_node = reader.integer("devices_per_node", {1, kMaxDevicesPerNode}).value_or(1);
  device.intra_node = read_link(reader, "intra_node");
  device.inter_node = read_link(reader, "inter_node");
  device.host_memory = read_bytes(reader, "host_memory_bytes", 0).value_or(Bytes(0));
  device.host_link = read_link(reader, "host_link");
  device.price_usd_per_hour = reader.number(kPriceField, {0, 1e9});
  read_sources(reader, device);
  reader.refuse_unread();
  if (device.devices_per_node > 1 && !device.intra_node.exists()) {
    throw Error(reader.path("intra_node"),
                fmt::format("is missing, but devices_per_node is {}", device.devices_per_node),
                "add the link between the devices of a node, or set devices_per_node to 1");
  }
  return device;
}

json::Value link_json(const Link& link) {
  return json::Object{{"name", link.name},
                      {"bytes_per_second", link.bytes_per_second},
                      {"latency_seconds", link.latency_seconds},
                      {"share", link.share},
                      {"start_seconds", link.start_seconds},
                      {"hop_seconds", link.hop_seconds}};
}

json::Value sustained_json(const SustainedShares& sustained) {
  const AttentionShares& attention = sustained.attention;
  return json::Object{{"matmul", sustained.matmul},
                      {"low_precision", sustained.low_precision},
                      {"narrow_matmul", sustained.narrow_matmul},
                      {"matmul_bytes_per_flop", sustained.matmul_bytes_per_flop},
                      {"narrow_bytes_per_flop", sustained.narrow_bytes_per_flop},
                      {"memory", sustained.memory},
                      {"elementwise", sustained.elementwise},
                      {"update", sustained.update},
                      {"attention", json::Object{{"unfused", attention.unfused},
                                                 {"flash_1", attention.flash_1},
                                                 {"triton", attention.triton},
                                                 {"flash_2", attention.flash_2},
                                                 {"flash_3", attention.flash_3},
                                                 {"backward", attention.backward}}},
                      {"kernel_start_seconds", sustained.kernel_start_seconds}};
}

json::Value texts_json(const std::vector<std::string>& texts) {
  json::Array items;
  for (const std::string& text : texts) items.emplace_back(text);
  return items;
}

}  // namespace

Device parse_device(std::string_view text, const std::string& where) {
  const json::Value document = json::parse(text, where);
  try {
    FieldReader reader(document_or_sole(document, "devices"), "");
    return read_fields(reader);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

Device read_device_file(const std::string& path) {
  return parse_device(read_text_file(path, kMaxFileBytes), path);
}

json::Value device_json(const Device& device) {
  json::Object out{{"name", device.name},
                   {"aliases", texts_json(device.aliases)},
                   {"default_of", texts_json(device.default_of)},
                   {"vendor", device.vendor},
                   {"form", device.form},
                   {"generation", device.generation},
                   {"note", device.note},
                   {"default_profile", device.default_profile},
                   {"usable_bytes", device.usable.count()},
                   {"nominal_gb", device.nominal_gb},
                   {"peak_flops", json::Object{{"fp32", device.peak_flops.fp32},
                                               {"tf32", device.peak_flops.tf32},
                                               {"bf16", device.peak_flops.bf16},
                                               {"fp16", device.peak_flops.fp16},
                                               {"fp8", device.peak_flops.fp8},
                                               {"fp4", device.peak_flops.fp4}}},
                   {"memory_bandwidth_bytes_per_second", device.memory_bandwidth_bytes_per_second},
                   {"sustained", sustained_json(device.sustained)},
                   {"devices_per_node", device.devices_per_node}};
  if (device.compute_capability > 0) {
    out.emplace_back("compute_capability", device.compute_capability);
  }
  if (device.sustained_fp32.has_value()) {
    out.emplace_back("sustained_fp32", sustained_json(*device.sustained_fp32));
  }
  if (device.intra_node.exists()) out.emplace_back("intra_node", link_json(device.intra_node));
  if (device.inter_node.exists()) out.emplace_back("inter_node", link_json(device.inter_node));
  out.emplace_back("host_memory_bytes", device.host_memory.count());
  if (device.host_link.exists()) out.emplace_back("host_link", link_json(device.host_link));
  if (device.price_usd_per_hour.has_value()) {
    out.emplace_back(kPriceField, *device.price_usd_per_hour);
  }
  json::Object sources;
  for (const auto& [field, source] : device.sources) sources.emplace_back(field, source);
  out.emplace_back("sources", std::move(sources));
  return out;
}

}  // namespace fourhold::hardware

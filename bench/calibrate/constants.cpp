#include "calibrate/constants.h"

#include <cstdint>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/base/text_file.h"
#include "fourhold/plan/profile_fields.h"

namespace fourhold::calibrate {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;

bool matches(const std::string& pattern, const std::string& name) {
  if (pattern.empty() || pattern.back() != '*') return pattern == name;
  return name.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0;
}

[[noreturn]] void refuse(const Target& target) {
  throw Error("field", fmt::format("'{}' is none of a {}", target.field, target.kind),
              "see bench/calibrate/constants.cpp");
}

double* link_field(hardware::Link& link, std::string_view field) {
  if (field == "share") return &link.share;
  if (field == "start_seconds") return &link.start_seconds;
  if (field == "hop_seconds") return &link.hop_seconds;
  if (field == "bytes_per_second") return &link.bytes_per_second;
  return nullptr;
}

double* device_field(hardware::Device& device, std::string_view field) {
  hardware::SustainedShares& shares = device.sustained;
  if (field == "matmul") return &shares.matmul;
  if (field == "low_precision") return &shares.low_precision;
  if (field == "memory") return &shares.memory;
  if (field == "unfused") return &shares.attention.unfused;
  if (field == "flash_1") return &shares.attention.flash_1;
  if (field == "triton") return &shares.attention.triton;
  if (field == "flash_2") return &shares.attention.flash_2;
  if (field == "flash_3") return &shares.attention.flash_3;
  if (field == "kernel_start_seconds") return &shares.kernel_start_seconds;
  const std::size_t dot = field.find('.');
  if (dot == std::string_view::npos) return nullptr;
  hardware::Link& link =
      field.substr(0, dot) == "intra_node" ? device.intra_node : device.inter_node;
  return link_field(link, field.substr(dot + 1));
}

void set_profile_field(plan::Profile& profile, const Target& target, double value) {
  bool found = false;
  plan::visit_profile_fields(
      [&](const plan::FieldInfo& info, auto& field) {
        if (info.name != target.field) return;
        using Field = std::decay_t<decltype(field)>;
        if constexpr (std::is_same_v<Field, double>) {
          field = value;
          found = true;
        }
      },
      profile);
  if (!found) refuse(target);
}

}  // namespace

std::vector<Constant> read_constants(const std::string& file) {
  FieldReader document(json::parse(read_text_file(file, kMostBytes), file), "");
  std::vector<Constant> constants;
  for (const json::Value& value : *document.array("constants")) {
    FieldReader reader(value, "constants");
    Constant one;
    one.name = reader.required_string("name");
    one.meaning = reader.required_string("meaning");
    one.prior = reader.required_number("prior");
    one.sigma = reader.required_number("sigma");
    one.least = reader.number("least").value_or(one.least);
    one.most = reader.number("most").value_or(one.most);
    for (const json::Value& place : *reader.array("targets")) {
      FieldReader target(place, "targets");
      Target to;
      for (const char* kind : {"device", "network", "profile"}) {
        if (const auto name = target.string(kind)) {
          to.kind = kind;
          to.name = *name;
        }
      }
      to.field = target.required_string("field");
      to.times = target.number("times").value_or(1);
      one.targets.push_back(to);
    }
    constants.push_back(one);
  }
  return constants;
}

void apply(const std::vector<Constant>& constants, const std::vector<double>& values,
           hardware::Device& device) {
  for (std::size_t i = 0; i < constants.size(); ++i) {
    for (const Target& target : constants[i].targets) {
      double* field = nullptr;
      if (target.kind == "device" && matches(target.name, device.name)) {
        field = device_field(device, target.field);
      } else if (target.kind == "network" && matches(target.name, device.inter_node.name)) {
        field = link_field(device.inter_node, target.field);
      } else {
        continue;
      }
      if (field == nullptr) refuse(target);
      *field = values[i] * target.times;
    }
  }
}

void apply(const std::vector<Constant>& constants, const std::vector<double>& values,
           plan::Profile& profile) {
  for (std::size_t i = 0; i < constants.size(); ++i) {
    for (const Target& target : constants[i].targets) {
      if (target.kind != "profile" || !matches(target.name, profile.name)) continue;
      set_profile_field(profile, target, values[i] * target.times);
    }
  }
}

}  // namespace fourhold::calibrate

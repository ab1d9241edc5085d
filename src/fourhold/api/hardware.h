// `fourhold hardware`: the built-in devices, or one of them with the source of every fact.
#pragma once

#include <string>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/base/json.h"
#include "fourhold/hardware/device.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct HardwareRequest {
  std::string device;  // "" lists all
};

template <class Visitor>
void visit_options(Visitor&& visit, HardwareRequest& request) {
  visit(Option{{"device", "one device by name, alias or file, with the source of every fact"},
               OptionGroup::operand,
               ValueKind::device},
        request.device);
}

struct HardwareResult {
  std::vector<hardware::Device> devices;  // by name
  std::vector<std::string> notes;
};

[[nodiscard]] HardwareResult list_hardware(const HardwareRequest& request);

[[nodiscard]] json::Value to_json(const HardwareResult& result);
[[nodiscard]] std::string to_text(const HardwareResult& result, const report::Screen& screen);

}  // namespace fourhold::api

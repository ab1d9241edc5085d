// Where the run is to happen: devices by name or file, or a plain amount of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/base/units.h"
#include "fourhold/hardware/cluster.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::api {

// Of probabilities that a run is to fit with. The most is more than all published runs show; what
// those of one profile do is less, and asked of them (confidence::most_confidence).
inline constexpr NumberRange kConfidenceRange{0.5, 0.9999};

struct TargetRequest {
  // A name or a file; several for unequal devices: "2xa100-40gb,a100-80gb".
  std::string device{};
  std::optional<Bytes> memory{};       // what a device has, instead of the device's own
  std::optional<Bytes> host_memory{};  // of one node
  std::optional<double> headroom{};    // share of the device that must stay free
  std::optional<double> confidence{};  // or: how probable it must be that a run fits
  double sure_headroom = 0;            // what `confidence` keeps free, once the profile is known
};

// What the device has, whichever it is.
template <class Visitor>
void visit_memory_options(Visitor&& visit, TargetRequest& request) {
  visit(Option{{"memory", "memory of one device, with or without --device, such as 24GiB"},
               OptionGroup::device,
               ValueKind::size},
        request.memory);
  visit(Option{{"host_memory", "memory of one node, for what is offloaded"},
               OptionGroup::device,
               ValueKind::size},
        request.host_memory);
  visit(Option{{"headroom", "share of the device that must stay free, such as 10%", {}, {0, 0.99}},
               OptionGroup::device,
               ValueKind::number},
        request.headroom);
  visit(Option{{"confidence",
                "instead of --headroom: how probable it must be, by measured runs, that it fits, "
                "such as 95%",
                {},
                kConfidenceRange},
               OptionGroup::device,
               ValueKind::number},
        request.confidence);
}

template <class Visitor>
void visit_target_options(Visitor&& visit, TargetRequest& request) {
  visit(Option{{"device",
                "device by name, alias or file; unequal ones as 2xa100-40gb,a100-80gb "
                "(`fourhold hardware` lists them)"},
               OptionGroup::device,
               ValueKind::device},
        request.device);
  visit_memory_options(visit, request);
}

struct Target {
  hardware::Cluster cluster;  // of `listed` devices
  std::int64_t listed = 0;    // devices the request names: above 1 only where it lists several
  std::vector<std::string> notes;
};

// The parts of a list, as 2xa100-40gb,h200. Error for a part that is empty.
[[nodiscard]] std::vector<std::string> device_parts(std::string_view list);

// The list with built-in devices under their own names, which are never ambiguous: "2xh100,t4" is
// "2xh100-sxm-80gb,t4". Files stay as they are named. Errors as load_target.
[[nodiscard]] std::string exact_devices(std::string_view list);

// The built-in device with rates whose usable memory is nearest.
[[nodiscard]] std::string nearest_device(Bytes memory);

// Nothing where the request names neither a device nor a memory. Errors: an unknown device, a list
// with an empty part.
[[nodiscard]] std::optional<Target> load_target(const TargetRequest& request);

// What a plan over `devices` of them may use. A node's memory is shared by its devices in use.
[[nodiscard]] predict::Capacity capacity_of(const Target& target, const TargetRequest& request,
                                            std::int64_t devices);

}  // namespace fourhold::api

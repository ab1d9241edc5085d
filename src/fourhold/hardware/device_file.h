// Device files: JSON, the built-in ones and the user's alike.
//
// Fields: name, usable_bytes, peak_flops {fp32, tf32, bf16, fp16, fp8} and
// memory_bandwidth_bytes_per_second are required; aliases, default_of, vendor, form, note,
// default_profile, nominal_gb, compute_capability, sustained {matmul, narrow_matmul,
// matmul_bytes_per_flop, narrow_bytes_per_flop, memory, elementwise, update, attention {unfused,
// flash_1, triton, flash_2, flash_3, backward}, kernel_start_seconds}, sustained_fp32 (the same
// fields), devices_per_node (1), intra_node, inter_node, host_link (each {name, bytes_per_second,
// latency_seconds, share, start_seconds, hop_seconds}), host_memory_bytes, price_usd_per_hour and
// sources are not. More than one device per node needs intra_node. Byte counts may be written as
// text: "23.7GiB".
#pragma once

#include <string>
#include <string_view>

#include "fourhold/base/json.h"
#include "fourhold/hardware/device.h"

namespace fourhold::hardware {

// Reads one device from the text of a file. Error with the field's path for any fault; an unknown
// field is a fault. `where` names the file in Errors.
[[nodiscard]] Device parse_device(std::string_view text, const std::string& where);

// The same from a file. Error also when it cannot be read or is larger than 1 MiB.
[[nodiscard]] Device read_device_file(const std::string& path);

// The file's content for a device: parse_device(write(device_json(d))) gives d back.
[[nodiscard]] json::Value device_json(const Device& device);

}  // namespace fourhold::hardware

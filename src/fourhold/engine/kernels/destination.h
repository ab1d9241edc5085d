// What a kernel does with what its output already holds.
#pragma once

#include <cstdint>

namespace fourhold::engine {

enum class Destination : std::uint8_t { overwrite, accumulate };

}  // namespace fourhold::engine

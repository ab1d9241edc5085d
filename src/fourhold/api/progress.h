// How far a long answer has come, for whoever wants to show it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace fourhold::api {

// Called often: what is being done, and how much of it. An empty function shows nothing.
using Progress = std::function<void(std::string_view what, std::int64_t done, std::int64_t of)>;

}  // namespace fourhold::api

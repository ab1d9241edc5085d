#include "fourhold/engine/train/process_memory.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

// The line "Name:   123 kB" of one of the kernel's tables.
Bytes field_of(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0 || line.size() <= name.size() || line[name.size()] != ':')
      continue;
    std::istringstream rest(line.substr(name.size() + 1));
    std::int64_t kibibytes = 0;
    if (rest >> kibibytes) return Bytes(kibibytes * 1024);
  }
  throw Error(path, "does not state " + std::string(name), "measuring memory needs Linux");
}

constexpr const char* kStatus = "/proc/self/status";

}  // namespace

ProcessMemory process_memory() {
  return {field_of(kStatus, "RssAnon") + field_of(kStatus, "RssShmem"), field_of(kStatus, "VmHWM")};
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

Bytes available_memory() { return field_of("/proc/meminfo", "MemAvailable"); }

}  // namespace fourhold::engine

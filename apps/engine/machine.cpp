#include "apps/engine/machine.h"

#include <sched.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"

namespace fourhold::engine_app {

int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return CPU_COUNT(&mask);
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "processor";
}

int threads_of(std::int64_t asked) {
  const int cores = usable_cores();
  if (asked == 0) return cores;
  if (asked > cores) {
    throw Error("--threads",
                std::to_string(asked) + " are more than the " + counted(cores, "core") +
                    " this process may run on",
                "ask for at most " + std::to_string(cores) +
                    ", or widen the affinity mask (taskset, mpirun --bind-to none)");
  }
  return static_cast<int>(asked);
}

}  // namespace fourhold::engine_app

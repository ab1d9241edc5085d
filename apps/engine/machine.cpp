#include "apps/engine/machine.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <set>
#include <string>

#include "fourhold/engine/kernels/process_isa.h"
#include "fourhold/engine/launch/shared_memory.h"

namespace fourhold::engine_app {

int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return CPU_COUNT(&mask);
}

int physical_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  std::set<std::string> cores;  // by the list of their processors: "0,64"
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask) == 0) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string siblings = "cpu" + std::to_string(cpu);  // where the system does not say: its own
    std::getline(file, siblings);
    cores.insert(siblings);
  }
  return static_cast<int>(cores.size());
}

engine::RankPlace rank_place() {
  engine::RankPlace place;
  place.started = engine::started_as(engine::process_environment);
  place.mpi_ranks = place.started.ranks;
  place.node_ranks = place.started.node_ranks;
  place.mask_cores = usable_cores();
  place.node_cores = std::max<std::int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
  struct statvfs shared {};
  if (statvfs("/dev/shm", &shared) == 0) {
    place.shared_free = Bytes(static_cast<std::int64_t>(shared.f_bavail * shared.f_frsize));
  }
  return place;
}

Bytes shared_memory(const engine::RankPlace& place) {
  return engine::shared_memory_of_node(place.mpi, place.node_ranks, engine::process_environment);
}

std::optional<engine::Launcher> launcher_of_build() { return FOURHOLD_LAUNCHER; }

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
  const engine::RankPlace place = rank_place();
  if (asked == 0) return static_cast<int>(engine::default_threads(place));
  engine::require_cores(asked, place);
  return static_cast<int>(asked);
}

engine::Isa use_isa(const std::optional<std::string>& asked) {
  const engine::Isa isa = engine::isa_of_plan(asked.value_or("auto"));
  engine::limit_process_to(isa);
  return isa;
}

}  // namespace fourhold::engine_app

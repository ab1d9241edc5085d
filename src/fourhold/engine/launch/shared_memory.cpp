#include "fourhold/engine/launch/shared_memory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "fourhold/base/checked.h"
#include "fourhold/base/quantity.h"

namespace fourhold::engine {
namespace {

constexpr std::int64_t kSegmentBytes = std::int64_t{4} << 20;
// The component's name in 4.1 and before, and since 5.0.
constexpr std::array<std::string_view, 2> kComponents{"vader", "sm"};

bool lists(std::string_view list, std::string_view component) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == component) return true;
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  return false;
}

// "tcp,self" leaves out what it does not name, "^vader" what it does.
bool is_chosen(const std::optional<std::string>& chosen) {
  if (!chosen || chosen->empty()) return true;
  const bool excludes = chosen->front() == '^';
  const std::string_view list = std::string_view(*chosen).substr(excludes ? 1 : 0);
  const bool named = lists(list, kComponents[0]) || lists(list, kComponents[1]);
  return named != excludes;
}

std::optional<std::string> parameter(const Environment& environment, std::string_view name) {
  for (const std::string_view component : kComponents) {
    auto value = environment("OMPI_MCA_btl_" + std::string(component) + "_" + std::string(name));
    if (value) return value;
  }
  return std::nullopt;
}

}  // namespace

Bytes shared_memory_of_node(std::string_view mpi, std::int64_t node_ranks,
                            const Environment& environment) {
  if (mpi.rfind("Open MPI", 0) != 0 || node_ranks < 2) return Bytes(0);
  if (!is_chosen(environment("OMPI_MCA_btl"))) return Bytes(0);
  if (parameter(environment, "backing_directory").value_or("/dev/shm") != "/dev/shm") {
    return Bytes(0);
  }
  const std::optional<std::string> size = parameter(environment, "segment_size");
  const std::int64_t segment =
      size ? parse_count(*size, "OMPI_MCA_btl_vader_segment_size") : kSegmentBytes;
  return Bytes(checked_multiply(node_ranks, segment));
}

}  // namespace fourhold::engine

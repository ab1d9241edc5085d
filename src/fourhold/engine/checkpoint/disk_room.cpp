#include "fourhold/engine/checkpoint/disk_room.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>

#include "fourhold/model/parameters.h"

namespace fourhold::engine {

Bytes checkpoint_bytes(const model::ModelConfig& config, const WeightsFormat& format,
                       const plan::Recipe& recipe) {
  const PublishedLayout layout = lay_out(config, format);
  auto bytes = static_cast<std::int64_t>(layout.config.size());
  if (layout.index) bytes += static_cast<std::int64_t>(layout.index->size());
  for (const PublishedFile& file : layout.files) bytes += file.bytes;
  std::int64_t per_parameter = recipe.master_bytes;
  for (const plan::StateTensor& moment : plan::optimizer_state(recipe, {}, 1)) {
    per_parameter += bytes_of(moment.elements, moment.dtype);
  }
  return Bytes(bytes + per_parameter * model::count_parameters(config).total);
}

std::optional<Bytes> free_disk_bytes(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code fault;
  fs::path at = fs::absolute(path.empty() ? "." : path, fault).lexically_normal();
  while (!fs::exists(at, fault) && at.has_relative_path()) at = at.parent_path();
  struct statvfs space {};
  // Some file systems, such as those of a network, state no size at all.
  if (::statvfs(at.c_str(), &space) != 0 || space.f_blocks == 0) return std::nullopt;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::uint64_t block = std::max<std::uint64_t>(space.f_frsize, 1);
  const std::uint64_t blocks = std::min<std::uint64_t>(space.f_bavail, kMost / block);
  return Bytes(static_cast<std::int64_t>(blocks * block));
}

}  // namespace fourhold::engine

// Files that name hosts, as mpirun and MPICH's mpiexec read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourhold::engine {

struct Host {
  std::string name;
  std::optional<std::int64_t> slots;  // ranks it takes; as many as it has room for if not stated
  friend bool operator==(const Host&, const Host&) = default;
};

// One host a line: "NAME", "NAME slots=N" (Open MPI) or "NAME:N" (MPICH); further words with an '='
// are the launcher's own. '#' starts a comment. A host that stands twice has both lines' slots, as
// for Open MPI. Throws Error naming `where` and the line.
[[nodiscard]] std::vector<Host> parse_hostfile(std::string_view text, const std::string& where);

// Of all hosts; nothing where one of them does not say.
[[nodiscard]] std::optional<std::int64_t> slots_of(const std::vector<Host>& hosts);

// Ranks of `threads` that they take: their slots, and where one does not say, as many as
// `node_cores` give cores to, at least one on each.
[[nodiscard]] std::int64_t room_of(const std::vector<Host>& hosts, std::int64_t node_cores,
                                   std::int64_t threads);

// "a:2,b:1", as both launchers take it on their command line.
[[nodiscard]] std::string host_list(const std::vector<Host>& hosts);

}  // namespace fourhold::engine

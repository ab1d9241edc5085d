// The command that starts the ranks of a plan, each on cores of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/engine/launch/hostfile.h"
#include "fourhold/engine/launch/launcher.h"

namespace fourhold::engine {

struct LaunchJob {
  std::int64_t ranks = 1;
  std::int64_t threads = 1;      // of each rank
  std::int64_t node_cores = 1;   // of this machine; the other hosts are taken to have as many
  std::vector<Host> hosts = {};  // none: this machine alone
  std::string hostfile = {};     // where they are from; "" where only `hosts` says it
  Launcher library = Launcher::open_mpi;  // whose messages the program sends: srun is told
  bool run_as_root = false;               // Open MPI is to be told that root is meant
  std::vector<std::string> program;       // what each rank runs, with its arguments
};

struct LaunchCommand {
  std::vector<std::string> words;
  std::vector<std::string> notes;
};

// Where every node has a core for each thread, ranks are bound to as many cores as they have
// threads. Where it has not, they are bound to none and a note says so: bound ranks would then
// share single cores while others idle. OpenMP is told to wait passively: a thread that spins at
// the end of a loop takes the core from the one that works, and several ranks on a node make that
// likely. Throws Error for fewer slots than ranks, hosts under Slurm, which places ranks itself.
[[nodiscard]] LaunchCommand launch_command(Launcher launcher, const LaunchJob& job);

// The words as a shell reads them.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);
// The same over lines of at most `columns` where words allow it: broken before options, each line
// but the last ended by a backslash, so that it can be pasted as it stands.
[[nodiscard]] std::string shell_lines(const std::vector<std::string>& words, int columns);

// Ranks of the fullest node, as launch_command() places them.
[[nodiscard]] std::int64_t node_ranks_of(const LaunchJob& job);

}  // namespace fourhold::engine

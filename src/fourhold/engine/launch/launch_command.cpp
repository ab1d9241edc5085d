#include "fourhold/engine/launch/launch_command.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/exchange_buffer.h"

namespace fourhold::engine {
namespace {

using Words = std::vector<std::string>;

// Open MPI asks the receiver before it sends more than this over TCP. In an exchange the answer
// waits behind the chunks that go the other way, and the link runs at half its rate (measured:
// docs/design/08-ranks.md). Chunks of sums stay below it.
constexpr std::int64_t kTcpEagerBytes = 2 * plan::kExchangeChunkBytes;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::string number(std::int64_t value) { return fmt::format("{}", value); }

bool has_room(const LaunchJob& job) { return node_ranks_of(job) * job.threads <= job.node_cores; }

void require_slots(const LaunchJob& job) {
  const std::optional<std::int64_t> slots = slots_of(job.hosts);
  if (job.hosts.empty() || !slots || *slots >= job.ranks) return;
  throw Error(job.hostfile.empty() ? "hosts" : job.hostfile,
              fmt::format("has {} for {}", counted(*slots, "slot"), counted(job.ranks, "rank")),
              fmt::format("name more hosts or raise slots=N; or a plan of at most {}",
                          counted(*slots, "rank")));
}

// Open MPI binds one or two ranks to a core each, and more to a socket: neither is what a rank with
// several threads needs.
Words open_mpi_binding(const LaunchJob& job) {
  if (!has_room(job)) {
    // Waiting for messages spins too, unless told to give way.
    return {"--bind-to", "none", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"};
  }
  const std::string cores = fmt::format("PE={}", job.threads);
  if (job.hosts.empty() || slots_of(job.hosts)) return {"--map-by", "slot:" + cores};
  // Without slots Open MPI takes one rank a core, whatever its threads.
  return {"--map-by", fmt::format("ppr:{}:node:{}", node_ranks_of(job), cores)};
}

Words open_mpi_words(const LaunchJob& job) {
  Words words{"mpirun", "-n", number(job.ranks)};
  if (!job.hostfile.empty()) {
    append(words, {"--hostfile", job.hostfile});
  } else if (!job.hosts.empty()) {
    append(words, {"--host", host_list(job.hosts)});
  }
  append(words, open_mpi_binding(job));
  if (!job.hosts.empty()) {
    append(words, {"--mca", "btl_tcp_eager_limit", number(kTcpEagerBytes)});
  }
  if (job.run_as_root) words.emplace_back("--allow-run-as-root");
  append(words, {"-x", "OMP_NUM_THREADS=" + number(job.threads), "-x", "OMP_WAIT_POLICY=passive"});
  return words;
}

Words mpich_words(const LaunchJob& job) {
  Words words{"mpiexec.hydra", "-n", number(job.ranks)};
  if (!job.hostfile.empty()) {
    append(words, {"-f", job.hostfile});
  } else if (!job.hosts.empty()) {
    append(words, {"-hosts", host_list(job.hosts)});
  }
  if (!job.hosts.empty() && !slots_of(job.hosts)) {
    append(words, {"-ppn", number(node_ranks_of(job))});
  }
  append(words, {"-bind-to", has_room(job) ? "core:" + number(job.threads) : "none"});
  append(words,
         {"-genv", "OMP_NUM_THREADS", number(job.threads), "-genv", "OMP_WAIT_POLICY", "passive"});
  return words;
}

// srun counts processors for each task, and since Slurm 22.05 no longer takes them from the job. By
// its own default (MpiDefault of slurm.conf, "none" where nobody set it) tasks do not find each
// other: Open MPI is started through PMIx and MPICH through PMI-2 (Slurm's MPI Users Guide,
// slurm.schedmd.com/mpi_guide.html, "Open MPI" and "MPICH").
Words slurm_words(const LaunchJob& job) {
  return {"srun",
          "--ntasks=" + number(job.ranks),
          "--cpus-per-task=" + number(job.threads),
          "--cpu-bind=cores",
          "--kill-on-bad-exit=1",
          std::string("--mpi=") + std::string(slurm_interface(job.library)),
          fmt::format("--export=ALL,OMP_NUM_THREADS={},OMP_WAIT_POLICY=passive", job.threads)};
}

// What a user should know of cores that are too few or idle; "" where they fit.
std::string note_on_cores(const LaunchJob& job) {
  const std::int64_t ranks = node_ranks_of(job);
  const std::int64_t fitting = job.node_cores / ranks;  // threads that each rank has cores for
  const std::string place =
      fmt::format("{} of {} on a node of {}", counted(ranks, "rank"),
                  counted(job.threads, "thread"), counted(job.node_cores, "core"));
  if (fitting > job.threads) {
    return fmt::format("{} leave some idle: --threads {} behind -- uses them", place, fitting);
  }
  if (fitting == job.threads) return "";
  return fmt::format("{}: no rank has cores of its own, and steps are slow; {}", place,
                     fitting >= 1 ? fmt::format("--threads {} behind -- gives it them", fitting)
                                  : std::string("more hosts (--hostfile) or a plan of fewer ranks "
                                                "give it them"));
}

}  // namespace

std::int64_t node_ranks_of(const LaunchJob& job) {
  if (job.hosts.empty()) return job.ranks;
  if (slots_of(job.hosts)) {
    std::int64_t most = 1;
    for (const Host& host : job.hosts) most = std::max(most, *host.slots);
    return std::min(most, job.ranks);
  }
  const std::int64_t room = std::max<std::int64_t>(1, job.node_cores / job.threads);
  const auto hosts = static_cast<std::int64_t>(job.hosts.size());
  return std::max(std::min(room, job.ranks), ceil_divide(job.ranks, hosts));
}

LaunchCommand launch_command(Launcher launcher, const LaunchJob& job) {
  if (launcher == Launcher::slurm && !job.hosts.empty()) {
    throw Error("--hostfile", "Slurm places the ranks on the nodes of its allocation",
                "leave it out, and choose nodes with sbatch or salloc (--nodes, --nodelist)");
  }
  require_slots(job);
  LaunchCommand command;
  switch (launcher) {
    case Launcher::open_mpi:
      command.words = open_mpi_words(job);
      break;
    case Launcher::mpich:
      command.words = mpich_words(job);
      break;
    case Launcher::slurm:
      command.words = slurm_words(job);
      break;
  }
  append(command.words, job.program);
  // What an allocation of Slurm has is not known here.
  if (launcher == Launcher::slurm) return command;
  std::string note = note_on_cores(job);
  if (!note.empty()) command.notes.push_back(std::move(note));
  return command;
}

namespace {

// An option with what follows it, up to the next option.
std::vector<Words> option_groups(const Words& words) {
  std::vector<Words> groups;
  for (const std::string& word : words) {
    if (groups.empty() || word.rfind('-', 0) == 0) groups.emplace_back();
    groups.back().push_back(word);
  }
  return groups;
}

// Lines that grow by pieces which each stay whole.
class ShellLines {
 public:
  explicit ShellLines(int columns) : columns_(static_cast<std::size_t>(columns)) {}

  [[nodiscard]] bool has_room(std::size_t size) const {
    return line_.size() + 1 + size + kEnd.size() <= columns_;
  }
  [[nodiscard]] bool fits_a_line(std::size_t size) const {
    return kIndent.size() + size + kEnd.size() <= columns_;
  }
  void add(const std::string& piece) {
    if (!line_.empty() && !has_room(piece.size())) {
      done_ += line_ + std::string(kEnd) + "\n";
      line_ = kIndent;
      line_ += piece;
      return;
    }
    if (!line_.empty()) line_ += ' ';
    line_ += piece;
  }
  [[nodiscard]] std::string text() const { return done_ + line_; }

 private:
  static constexpr std::string_view kIndent = "  ";
  static constexpr std::string_view kEnd = " \\";
  std::size_t columns_;
  std::string done_;
  std::string line_;
};

}  // namespace

std::string shell_lines(const Words& words, int columns) {
  ShellLines lines(columns);
  for (const Words& group : option_groups(words)) {
    const std::string whole = shell_text(group);
    if (lines.fits_a_line(whole.size())) {
      lines.add(whole);
      continue;
    }
    for (const std::string& word : group) lines.add(shell_text({word}));
  }
  return lines.text();
}

std::string shell_text(const Words& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
    text += '\'';
  }
  return text;
}

}  // namespace fourhold::engine

#include "fourhold/engine/launch/launch_command.h"

#include <gtest/gtest.h>

#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

LaunchJob job(std::int64_t ranks, std::int64_t threads, std::int64_t cores) {
  LaunchJob job;
  job.ranks = ranks;
  job.threads = threads;
  job.node_cores = cores;
  job.program = {"fourhold", "train", "plan.json"};
  return job;
}

std::string text(Launcher launcher, const LaunchJob& job) {
  return shell_text(launch_command(launcher, job).words);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The forms are those of mpirun(1) of Open MPI 4.1, of Hydra's `mpiexec -help`, and of srun(1).
TEST(LaunchCommand, EachRankIsBoundToAsManyCoresAsItHasThreads) {
  const LaunchJob four = job(4, 2, 8);
  EXPECT_EQ(text(Launcher::open_mpi, four),
            "mpirun -n 4 --map-by slot:PE=2 -x OMP_NUM_THREADS=2 -x "
            "OMP_WAIT_POLICY=passive fourhold train plan.json");
  EXPECT_EQ(text(Launcher::mpich, four),
            "mpiexec.hydra -n 4 -bind-to core:2 -genv OMP_NUM_THREADS 2 -genv OMP_WAIT_POLICY "
            "passive fourhold train plan.json");
  EXPECT_EQ(text(Launcher::slurm, four),
            "srun --ntasks=4 --cpus-per-task=2 --cpu-bind=cores --kill-on-bad-exit=1 --mpi=pmix "
            "--export=ALL,OMP_NUM_THREADS=2,OMP_WAIT_POLICY=passive fourhold train plan.json");
  EXPECT_TRUE(launch_command(Launcher::open_mpi, four).notes.empty());
}

// Slurm's MPI Users Guide: Open MPI by PMIx, MPICH by PMI-2.
TEST(LaunchCommand, SrunIsToldTheInterfaceOfTheProgramsLibrary) {
  LaunchJob four = job(4, 2, 8);
  four.library = Launcher::mpich;
  EXPECT_TRUE(has(text(Launcher::slurm, four), " --mpi=pmi2 "));
  EXPECT_FALSE(has(text(Launcher::mpich, four), "--mpi"));
}

TEST(LaunchCommand, WhereCoresAreTooFewNothingIsBoundAndANoteSaysSo) {
  const LaunchCommand command = launch_command(Launcher::open_mpi, job(4, 2, 4));
  const std::string words = shell_text(command.words);
  EXPECT_TRUE(has(words, "--bind-to none --oversubscribe --mca mpi_yield_when_idle 1")) << words;
  EXPECT_FALSE(has(words, "PE=")) << words;
  ASSERT_EQ(command.notes.size(), 1U);
  EXPECT_TRUE(has(command.notes[0], "4 ranks of 2 threads on a node of 4 cores"))
      << command.notes[0];
  EXPECT_TRUE(has(command.notes[0], "--threads 1")) << command.notes[0];
  EXPECT_TRUE(has(launch_command(Launcher::open_mpi, job(4, 1, 2)).notes.at(0), "fewer ranks"));
  EXPECT_TRUE(has(text(Launcher::mpich, job(4, 2, 4)), "-bind-to none"));
}

TEST(LaunchCommand, IdleCoresAreSaid) {
  const LaunchCommand command = launch_command(Launcher::open_mpi, job(2, 1, 8));
  ASSERT_EQ(command.notes.size(), 1U);
  EXPECT_TRUE(has(command.notes[0], "--threads 4")) << command.notes[0];
}

TEST(LaunchCommand, SlotsOfAHostfileSayHowManyRanksEachHostTakes) {
  LaunchJob two_hosts = job(4, 2, 4);
  two_hosts.hostfile = "my hosts";
  two_hosts.hosts = {{"a", 2}, {"b", 2}};
  EXPECT_EQ(node_ranks_of(two_hosts), 2);
  const std::string words = text(Launcher::open_mpi, two_hosts);
  EXPECT_TRUE(has(words, "-n 4 --hostfile 'my hosts' --map-by slot:PE=2")) << words;
  // Twice the 256 KiB of a chunk, which then never waits for an answer.
  EXPECT_TRUE(has(words, "--mca btl_tcp_eager_limit 524288")) << words;
  EXPECT_TRUE(has(text(Launcher::mpich, two_hosts), "-f 'my hosts' -bind-to core:2"));
}

// Open MPI would give a host without slots one rank a core, whatever its threads.
TEST(LaunchCommand, HostsWithoutSlotsTakeRanksByTheirCores) {
  LaunchJob two_hosts = job(4, 2, 4);
  two_hosts.hosts = {{"a", std::nullopt}, {"b", std::nullopt}};
  EXPECT_EQ(node_ranks_of(two_hosts), 2);
  EXPECT_TRUE(has(text(Launcher::open_mpi, two_hosts), "--host a,b --map-by ppr:2:node:PE=2"));
  EXPECT_TRUE(has(text(Launcher::mpich, two_hosts), "-hosts a,b -ppn 2 -bind-to core:2"));
  two_hosts.ranks = 6;  // three on each, where two have cores
  EXPECT_EQ(node_ranks_of(two_hosts), 3);
  EXPECT_TRUE(has(text(Launcher::open_mpi, two_hosts), "--bind-to none --oversubscribe"));
}

TEST(LaunchCommand, FewerSlotsThanRanksAreRefusedWithBothNumbers) {
  LaunchJob few = job(4, 1, 8);
  few.hostfile = "hosts";
  few.hosts = {{"a", 2}, {"b", 1}};
  try {
    static_cast<void>(launch_command(Launcher::open_mpi, few));
    FAIL();
  } catch (const Error& fault) {
    EXPECT_EQ(fault.where(), "hosts");
    EXPECT_TRUE(has(fault.what(), "3 slots for 4 ranks")) << fault.what();
  }
}

TEST(LaunchCommand, SlurmTakesNoHosts) {
  LaunchJob hosts = job(2, 1, 8);
  hosts.hosts = {{"a", 2}};
  EXPECT_THROW(static_cast<void>(launch_command(Launcher::slurm, hosts)), Error);
}

TEST(LaunchCommand, RootIsAllowedOnlyWhereAsked) {
  LaunchJob root = job(2, 1, 2);
  EXPECT_FALSE(has(text(Launcher::open_mpi, root), "root"));
  root.run_as_root = true;
  EXPECT_TRUE(has(text(Launcher::open_mpi, root), "--allow-run-as-root"));
}

TEST(LaunchCommand, WordsAreQuotedForAShellWhereTheyMustBe) {
  EXPECT_EQ(shell_text({"a", "b c", "it's", "", "$HOME", "x=1,2:3@%/._-+"}),
            "a 'b c' 'it'\\''s' '' '$HOME' x=1,2:3@%/._-+");
}

TEST(LaunchCommand, LongCommandsBreakBeforeOptions) {
  EXPECT_EQ(shell_lines({"mpirun", "-n", "4", "--bind-to", "core", "train", "--out", "my run"}, 24),
            "mpirun -n 4 \\\n"
            "  --bind-to core train \\\n"
            "  --out 'my run'");
  EXPECT_EQ(shell_lines({"mpirun", "-n", "4"}, 24), "mpirun -n 4");
}

TEST(LaunchCommand, AnOptionLongerThanALineBreaksBetweenItsWords) {
  EXPECT_EQ(shell_lines({"mpirun", "-x", "A=1", "a-program-with-a-long-name", "train"}, 20),
            "mpirun -x A=1 \\\n"
            "  a-program-with-a-long-name \\\n"
            "  train");
}

}  // namespace
}  // namespace fourhold::engine

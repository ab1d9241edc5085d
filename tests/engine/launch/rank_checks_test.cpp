#include "fourhold/engine/launch/rank_checks.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

// Four ranks on a node of eight cores, each bound to two.
RankPlace four_ranks() {
  RankPlace place;
  place.started = {Launcher::open_mpi, 0, 4, 4};
  place.mpi_ranks = 4;
  place.mpi = "Open MPI 4.1.4";
  place.node_ranks = 4;
  place.mask_cores = 2;
  place.node_cores = 8;
  place.shared_free = Bytes(1 << 20);
  return place;
}

RankNeeds needs(std::int64_t ranks, std::int64_t threads, std::int64_t shared = 0) {
  return {ranks, threads, Bytes(shared), "fourhold train plan.json"};
}

std::string fault_of(const RankNeeds& asked, const RankPlace& place) {
  try {
    static_cast<void>(check_ranks(asked, place));
  } catch (const Error& fault) {
    return fault.where() + ": " + fault.what() + ": " + fault.hint();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RankChecks, RanksOfThePlanOnCoresOfTheirOwnPassWithoutAWord) {
  EXPECT_TRUE(check_ranks(needs(4, 2, 1 << 20), four_ranks()).empty());
}

// Reported for launchers of other frameworks: hiyouga/LlamaFactory#2574, bigcode-project/
// starcoder#41, DeepSpeed#6914: a plan of 16 ranks, a world that is seen as 1.
TEST(RankChecks, APlanOf16RanksAloneIsRefusedWithTheCommandThatStartsThem) {
  const std::string fault = fault_of(needs(16, 1), RankPlace{});
  EXPECT_TRUE(has(fault, "says 16 ranks, and there is 1")) << fault;
  EXPECT_TRUE(has(fault, "mpirun -n 16 fourhold train plan.json")) << fault;
  EXPECT_TRUE(has(fault, "fourhold launch")) << fault;
}

TEST(RankChecks, APlanOfOneRankOnFourIsRefused) {
  const std::string fault = fault_of(needs(1, 1), four_ranks());
  EXPECT_TRUE(has(fault, "says 1 rank, and there are 4")) << fault;
  EXPECT_TRUE(has(fault, "--dp 4")) << fault;
}

TEST(RankChecks, TheLauncherThatWasUsedIsTheOneInTheHint) {
  RankPlace place = four_ranks();
  place.started.launcher = Launcher::mpich;
  EXPECT_TRUE(has(fault_of(needs(8, 1), place), "mpiexec.hydra -n 8"));
  place.started.launcher = Launcher::slurm;
  EXPECT_TRUE(has(fault_of(needs(8, 1), place), "srun -n 8"));
}

// Each of four processes would be rank 0 of 1, and all would write the same files.
TEST(RankChecks, TheLauncherOfAnotherLibraryIsToldFromAPlanThatIsTooLarge) {
  RankPlace place = four_ranks();
  place.started.launcher = Launcher::mpich;
  place.mpi_ranks = 1;
  const std::string fault = fault_of(needs(4, 1), place);
  EXPECT_TRUE(has(fault, "MPICH's mpiexec started 4 ranks, and each sees 1 rank")) << fault;
  EXPECT_TRUE(has(fault, "built with Open MPI 4.1.4")) << fault;
  // Also where the plan is of one rank, which would pass four times.
  EXPECT_TRUE(has(fault_of(needs(1, 1), place), "started 4 ranks"));
  place.mpi.clear();
  EXPECT_TRUE(has(fault_of(needs(4, 1), place), "built without MPI"));
  place.mpi = "MPICH 4.0.2";
  place.started.launcher = Launcher::slurm;
  EXPECT_TRUE(has(fault_of(needs(4, 1), place), "--mpi=pmi2"));
}

// mpirun of Open MPI 4.1 binds each of one or two ranks to one core.
TEST(RankChecks, MoreThreadsThanTheRankIsBoundToAreRefusedWithTheBindingThatHelps) {
  RankPlace place = four_ranks();
  place.mask_cores = 1;
  const std::string fault = fault_of(needs(4, 2), place);
  EXPECT_TRUE(has(fault, "2 are more than the 1 core this rank may run on")) << fault;
  EXPECT_TRUE(has(fault, "--map-by slot:PE=2")) << fault;
  EXPECT_TRUE(has(fault, "--bind-to none")) << fault;
  place.started.launcher = Launcher::slurm;
  EXPECT_TRUE(has(fault_of(needs(4, 2), place), "--cpus-per-task=2"));
  place.started.launcher = Launcher::mpich;
  EXPECT_TRUE(has(fault_of(needs(4, 2), place), "-bind-to core:2"));
}

TEST(RankChecks, NoBindingHelpsWithMoreThreadsThanTheNodeHasCores) {
  const std::string fault = fault_of(needs(4, 9), four_ranks());
  EXPECT_TRUE(has(fault, "at most --threads 2")) << fault;
  EXPECT_FALSE(has(fault, "bind")) << fault;
}

TEST(RankChecks, SharedMemoryThatIsTooSmallIsRefusedWithBothSizes) {
  const std::string fault = fault_of(needs(4, 2, (1 << 20) + 1), four_ranks());
  EXPECT_TRUE(has(fault, "/dev/shm: has 1.00 MiB free")) << fault;
  EXPECT_TRUE(has(fault, "size=1048577")) << fault;
}

TEST(RankChecks, MoreThreadsThanCoresOnANodeAreAWarning) {
  RankPlace place = four_ranks();
  place.mask_cores = 8;  // bound to none
  const std::vector<std::string> warnings = check_ranks(needs(4, 4), place);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(has(warnings[0], "4 ranks of 4 threads share the 8 cores")) << warnings[0];
  EXPECT_TRUE(has(warnings[0], "--threads 2")) << warnings[0];
  place.node_ranks = 16;
  EXPECT_TRUE(has(check_ranks(needs(4, 1), place).at(0), "fewer ranks"));
}

TEST(RankChecks, ThreadsThatNobodyStatesAreTheCoresOfTheRank) {
  RankPlace place = four_ranks();
  EXPECT_EQ(default_threads(place), 2);  // bound to two
  place.mask_cores = 8;
  EXPECT_EQ(default_threads(place), 2);  // bound to none: a quarter of the node
  place.node_ranks = 3;
  EXPECT_EQ(default_threads(place), 2);
  place.node_ranks = 16;
  EXPECT_EQ(default_threads(place), 1);
  EXPECT_EQ(default_threads(RankPlace{}), 1);
}

// Found with Slurm 22.05: its pmix plugin sets PMIX_RANK, pmi2 PMI_RANK, and none neither.
TEST(RankChecks, SrunWithoutAnInterfaceToMpiIsRefusedBeforeMpiStarts) {
  const StartedAs srun{Launcher::slurm, 0, 2, 2};
  const auto fault_with = [&](std::string_view variable, const StartedAs& started) {
    try {
      require_interface(started, [&](std::string_view name) {
        return name == variable ? std::optional<std::string>("0") : std::nullopt;
      });
    } catch (const Error& fault) {
      return std::string(fault.what()) + ": " + fault.hint();
    }
    return std::string();
  };
  EXPECT_EQ(fault_with("PMIX_RANK", srun), "");
  EXPECT_EQ(fault_with("PMI_RANK", srun), "");
  EXPECT_EQ(fault_with("", {Launcher::open_mpi, 0, 2, 2}), "");
  EXPECT_EQ(fault_with("", {Launcher::slurm, 0, 1, 1}), "");
  const std::string fault = fault_with("SLURM_PROCID", srun);
  EXPECT_TRUE(has(fault, "srun started 2 ranks")) << fault;
  EXPECT_TRUE(has(fault, "srun --mpi=pmix")) << fault;
}

}  // namespace
}  // namespace fourhold::engine

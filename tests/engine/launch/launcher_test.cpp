#include "fourhold/engine/launch/launcher.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

StartedAs started(const Variables& variables) {
  return started_as([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

// Names and values as Open MPI 4.1.4 and MPICH 4.0.2 set them for `-n 4`, four on the node.
TEST(Launcher, OpenMpiStatesItsRanks) {
  const StartedAs rank = started({{"OMPI_COMM_WORLD_SIZE", "4"},
                                  {"OMPI_COMM_WORLD_RANK", "3"},
                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_EQ(rank.launcher, Launcher::open_mpi);
  EXPECT_EQ(rank.ranks, 4);
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.node_ranks, 2);
}

TEST(Launcher, MpichStatesItsRanks) {
  const StartedAs rank = started({{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}, {"MPI_LOCALNRANKS", "4"}});
  EXPECT_EQ(rank.launcher, Launcher::mpich);
  EXPECT_EQ(rank.ranks, 4);
  EXPECT_EQ(rank.rank, 1);
  EXPECT_EQ(rank.node_ranks, 4);
}

// Variables as srun(1) documents them, "OUTPUT ENVIRONMENT VARIABLES".
TEST(Launcher, SrunStatesItsRanks) {
  const StartedAs rank = started({{"SLURM_STEP_NUM_TASKS", "7"},
                                  {"SLURM_PROCID", "6"},
                                  {"SLURM_NODEID", "3"},
                                  {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}});
  EXPECT_EQ(rank.launcher, Launcher::slurm);
  EXPECT_EQ(rank.ranks, 7);
  EXPECT_EQ(rank.rank, 6);
  EXPECT_EQ(rank.node_ranks, 1);
}

// Slurm's PMI-2 plugin sets PMI_RANK and PMI_SIZE, but no MPI_LOCALNRANKS, which is Hydra's.
TEST(Launcher, SrunWithPmi2IsSlurmAndHydraInAJobIsHydra) {
  Variables variables{
      {"SLURM_STEP_NUM_TASKS", "4"},      {"SLURM_PROCID", "2"}, {"SLURM_NODEID", "0"},
      {"SLURM_STEP_TASKS_PER_NODE", "4"}, {"PMI_SIZE", "4"},     {"PMI_RANK", "2"}};
  EXPECT_EQ(started(variables).launcher, Launcher::slurm);
  EXPECT_EQ(started(variables).rank, 2);
  EXPECT_EQ(started(variables).node_ranks, 4);
  // Hydra starts one proxy on a node by srun, and that its ranks.
  variables["SLURM_STEP_NUM_TASKS"] = "1";
  variables["SLURM_STEP_TASKS_PER_NODE"] = "1";
  variables["SLURM_PROCID"] = "0";
  variables["MPI_LOCALNRANKS"] = "4";
  EXPECT_EQ(started(variables).launcher, Launcher::mpich);
  EXPECT_EQ(started(variables).rank, 2);
  EXPECT_EQ(started(variables).ranks, 4);
}

TEST(Launcher, AProcessStartedByHandIsOneRank) {
  EXPECT_FALSE(started({}).launcher.has_value());
  EXPECT_EQ(started({}).ranks, 1);
}

TEST(Launcher, ABatchScriptIsNoRank) {
  EXPECT_EQ(started({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}).ranks,
            1);
}

TEST(Launcher, MpirunInsideASlurmStepCounts) {
  const StartedAs rank = started({{"SLURM_STEP_NUM_TASKS", "1"},
                                  {"SLURM_PROCID", "0"},
                                  {"OMPI_COMM_WORLD_SIZE", "8"},
                                  {"OMPI_COMM_WORLD_RANK", "5"},
                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}});
  EXPECT_EQ(rank.launcher, Launcher::open_mpi);
  EXPECT_EQ(rank.ranks, 8);
}

TEST(Launcher, VariablesThatAreNoNumbersOrMissingAreRefusedByName) {
  try {
    static_cast<void>(started({{"PMI_SIZE", "many"}, {"PMI_RANK", "0"}}));
    FAIL();
  } catch (const Error& fault) {
    EXPECT_EQ(fault.where(), "PMI_SIZE");
  }
  try {
    static_cast<void>(started({{"OMPI_COMM_WORLD_SIZE", "4"}}));
    FAIL();
  } catch (const Error& fault) {
    EXPECT_EQ(fault.where(), "OMPI_COMM_WORLD_RANK");
  }
}

TEST(Launcher, TasksOfEachNodeAreReadFromSlurmsShortForm) {
  EXPECT_EQ(tasks_of_node("4", 0), 4);
  EXPECT_EQ(tasks_of_node("2(x3),1", 0), 2);
  EXPECT_EQ(tasks_of_node("2(x3),1", 2), 2);
  EXPECT_EQ(tasks_of_node("2(x3),1", 3), 1);
  EXPECT_EQ(tasks_of_node("5,3(x2)", 2), 3);
  EXPECT_THROW(static_cast<void>(tasks_of_node("2(x3),1", 4)), Error);
  EXPECT_THROW(static_cast<void>(tasks_of_node("2(x", 0)), Error);
  EXPECT_THROW(static_cast<void>(tasks_of_node("", 0)), Error);
}

}  // namespace
}  // namespace fourhold::engine

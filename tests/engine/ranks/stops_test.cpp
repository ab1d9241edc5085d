// Ends of a job on several ranks that are not deaths: signals, losses that are no numbers, disks.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/engine/ranks/ranks_program.h"

namespace fourhold {
namespace {

constexpr double kMostSeconds = 60;
const std::string kLong = "--lr 1e-3 --batch 1 --global-batch 4 --zero 1 --steps 100000 ";

class Stops : public RanksProgram {
 protected:
  [[nodiscard]] std::int64_t newest() const {
    const std::vector<std::int64_t> steps = complete_steps(path("run"));
    return steps.empty() ? 0 : steps.back();
  }
  bool wait_for_step(StartedJob& job, std::int64_t step) const {
    return holds_within(kMostSeconds, [&] { return newest() >= step || !job.is_running(); }) &&
           job.is_running();
  }
  // One step more, from the newest checkpoint.
  [[nodiscard]] json::Value resumed(int ranks) const {
    return answer(ranks, fmt::format("--lr 1e-3 --batch 1 --global-batch 4 --zero 1 --steps {} "
                                     "--resume auto --out {}",
                                     newest() + 1, path("run")));
  }
};

// What `launch` sends on Ctrl-C: mpirun hands it on, and waits.
TEST_F(Stops, ASignalToTheLauncherSavesOnAllRanks) {
  StartedJob job(train_command(2, kLong + "--save-every 20 --keep 1 --out " + path("run")),
                 folder());
  ASSERT_TRUE(wait_for_step(job, 20)) << job.err();
  job.send(SIGUSR1);
  const std::optional<Ended> ended = job.end_within(kMostSeconds);
  ASSERT_TRUE(ended.has_value()) << job.err();
  EXPECT_EQ(ended->code, 1);
  EXPECT_EQ(times(ended->err, "stopping after this step, and saving"), 1) << ended->err;
  EXPECT_EQ(times(ended->err, "go on with --resume auto"), 1) << ended->err;
  EXPECT_TRUE(holds_within(10, [&] { return job.ranks().empty(); })) << "a rank is left";
  const json::Value said = json::parse(ended->out, "standard output");
  EXPECT_EQ(at(said, {"steps", "last"}), json::Value(newest())) << "the last step is saved";
  const std::int64_t step = newest();
  EXPECT_EQ(at(resumed(2), {"steps", "first"}), json::Value(step + 1));
}

// On SIGINT mpirun sends the ranks SIGTERM, and a second later kills them wherever they are: they
// may have saved and reported, or not, but what is whole on disk stays so.
TEST_F(Stops, AnInterruptedMpirunKeepsTheCheckpointBefore) {
  StartedJob job(train_command(2, kLong + "--save-every 20 --keep 1 --out " + path("run")),
                 folder());
  ASSERT_TRUE(wait_for_step(job, 20)) << job.err();
  job.send(SIGINT);
  const std::optional<Ended> ended = job.end_within(kMostSeconds);
  ASSERT_TRUE(ended.has_value()) << job.err();
  EXPECT_NE(ended->code, 0);
  EXPECT_TRUE(holds_within(10, [&] { return job.ranks().empty(); })) << "a rank is left";
  const std::int64_t step = newest();
  EXPECT_GE(step, 20);
  EXPECT_EQ(at(resumed(2), {"steps", "first"}), json::Value(step + 1));
}

// The weights after steps at such a rate are of 1e6, and products of three layers no numbers.
TEST_F(Stops, ALossThatIsNoNumberEndsAllRanksAndIsNotSaved) {
  for (const char* split : {"--zero 1", "--pp 2"}) {
    SCOPED_TRACE(split);
    std::filesystem::remove_all(path("run"));
    const Ended ended = train(2, fmt::format("--lr 1e6 --clip 0 --batch 1 --global-batch 4 {} "
                                             "--steps 9 --save-every 1 --out {}",
                                             split, path("run")));
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_EQ(ended.out, "");
    const std::string said = fmt::format("step {}: ", newest() + 1);
    EXPECT_EQ(times(ended.err, "fourhold:"), 1) << ended.err;
    EXPECT_EQ(times(ended.err, said), 1) << said << "\n" << ended.err;
    EXPECT_GT(newest(), 0);
    EXPECT_LT(newest(), 9);
    EXPECT_EQ(text_of(path("run") + fmt::format("/step-{:08}/complete.json", newest() + 1)), "");
  }
}

// A limit on the files of one rank, which stands for its full disk.
TEST_F(Stops, ADiskThatIsFullOnOneRankLeavesTheCheckpointBeforeWhole) {
  for (const int full : {0, 1}) {
    SCOPED_TRACE(full);
    std::filesystem::remove_all(path("run"));
    StartedJob job(train_command(2, kLong + "--save-every 5 --out " + path("run")), folder());
    ASSERT_TRUE(wait_for_step(job, 5)) << job.err();
    const rlimit small{.rlim_cur = 200'000, .rlim_max = 200'000};
    ASSERT_EQ(prlimit(job.ranks().at(full), RLIMIT_FSIZE, &small, nullptr), 0);
    const std::optional<Ended> ended = job.end_within(kMostSeconds);
    ASSERT_TRUE(ended.has_value()) << job.err();
    EXPECT_EQ(ended->code, 2) << ended->err;
    EXPECT_EQ(ended->out, "");
    EXPECT_EQ(times(ended->err, "File too large"), 1) << ended->err;
    EXPECT_EQ(times(ended->err, "fourhold:"), 1) << ended->err;
    if (full == 1) {
      EXPECT_NE(ended->err.find("rank 1"), std::string::npos) << ended->err;
    }
    const std::int64_t step = newest();
    EXPECT_GE(step, 5);
    EXPECT_EQ(at(resumed(2), {"steps", "first"}), json::Value(step + 1));
  }
}

}  // namespace
}  // namespace fourhold

// Ranks that die, at any moment: the job ends by itself, says who, and goes on as if nothing had
// been.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "tests/engine/ranks/ranks_program.h"

namespace fourhold {
namespace {

namespace fs = std::filesystem;

// What the job has for ending by itself.
constexpr double kMostSeconds = 60;

struct Job {
  const char* name;
  int ranks;
  const char* options;
};
void PrintTo(const Job& job, std::ostream* out) { *out << job.name; }

class Killed : public RanksProgram, public ::testing::WithParamInterface<Job> {
 protected:
  static constexpr int kSteps = 40;

  [[nodiscard]] static std::string options(const std::string& out) {
    return fmt::format(
        "--lr 1e-3 --batch 1 --global-batch 4 {} --steps {} --save-every 1 --out {} ",
        GetParam().options, kSteps, out);
  }
  // Whether a rank is writing a checkpoint right now.
  [[nodiscard]] bool is_saving() const {
    std::error_code ignored;
    for (fs::directory_iterator each(path("run"), ignored); each != fs::directory_iterator();
         each.increment(ignored)) {
      if (each->path().extension() == ".partial") return true;
    }
    return false;
  }
  [[nodiscard]] std::int64_t newest() const {
    const std::vector<std::int64_t> steps = complete_steps(path("run"));
    return steps.empty() ? 0 : steps.back();
  }
};

// Ten kills in a row, half of them while a checkpoint is written; each start goes on from the
// checkpoint before. The losses at the end are those of a run that nobody touched, bit for bit.
TEST_P(Killed, TenTimesItEndsAndGoesOn) {
  const int ranks = GetParam().ranks;
  const json::Value whole = answer(ranks, options(path("whole")));
  ASSERT_FALSE(whole.is_null());
  std::mt19937 random(20260 + static_cast<unsigned>(ranks));
  const std::string command = train_command(ranks, options(path("run")) + "--resume auto");
  int killed_saving = 0;
  for (int kill_number = 0; kill_number < 10; ++kill_number) {
    const int victim = static_cast<int>(random() % static_cast<unsigned>(ranks));
    const auto steps = static_cast<std::int64_t>(random() % 3);
    const bool saving = random() % 2 == 0;
    const std::chrono::microseconds delay(random() % (saving ? 1500 : 30000));
    SCOPED_TRACE(fmt::format("kill {}: rank {} after {} steps{}", kill_number, victim, steps,
                             saving ? ", while saving" : ""));
    const std::int64_t before = newest();
    StartedJob job(command, folder());
    // Not before the ranks have met, which the first then says: until then mpirun of Open MPI 4.1
    // alone could end the job, and may wait for ever for a rank that is killed while it reports.
    ASSERT_TRUE(holds_within(kMostSeconds, [&] {
      return static_cast<int>(job.ranks().size()) == ranks && newest() >= before + steps &&
             job.err().find("arena of") != std::string::npos;
    })) << job.err();
    const std::map<int, pid_t> processes = job.ranks();
    ASSERT_TRUE(processes.count(victim) == 1) << job.err();
    if (saving) {
      holds_within(kMostSeconds, [&] { return is_saving() || !job.is_running(); });
    }
    std::this_thread::sleep_for(delay);
    killed_saving += is_saving() ? 1 : 0;
    ASSERT_EQ(kill(processes.at(victim), SIGKILL), 0);
    const std::optional<Ended> ended = job.end_within(kMostSeconds);
    ASSERT_TRUE(ended.has_value()) << "it has not ended\n" << job.err();
    EXPECT_NE(ended->code, 0);
    EXPECT_NE(ended->err.find("rank " + std::to_string(victim)), std::string::npos) << ended->err;
    EXPECT_EQ(ended->out, "");
    EXPECT_TRUE(holds_within(10, [&] { return job.ranks().empty(); })) << "a rank is left";
    EXPECT_GE(newest(), before + steps) << "a complete checkpoint is lost";
    ASSERT_LT(newest(), kSteps) << "it was done before the kill";
  }
  RecordProperty("killed_while_saving", killed_saving);
  EXPECT_GT(killed_saving, 0);
  const std::int64_t first = newest();
  const json::Value rest = answer(ranks, options(path("run")) + "--resume auto");
  ASSERT_FALSE(rest.is_null());
  EXPECT_EQ(at(rest, {"steps", "first"}), json::Value(first + 1));
  const std::vector<double> expected = losses_of(whole);
  EXPECT_EQ(losses_of(rest), std::vector<double>(expected.begin() + first, expected.end()));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Killed,
                         ::testing::Values(Job{"dp2_zero1", 2, "--zero 1"},
                                           Job{"tp2_pp2", 4, "--tp 2 --sp on --pp 2"}),
                         [](const auto& job) { return std::string(job.param.name); });

// A process that is stopped answers nobody; where it is the first, the second says so.
TEST_F(RanksProgram, ARankThatHangsIsNamedAndEndsTheJob) {
  for (const int victim : {0, 1}) {
    SCOPED_TRACE(victim);
    fs::remove_all(path("run"));
    StartedJob job(train_command(3,
                                 "--lr 1e-3 --batch 1 --global-batch 3 --zero 1 --steps 100000 "
                                 "--rank-timeout 3 --save-every 5 --keep 1 --out " +
                                     path("run")),
                   folder());
    ASSERT_TRUE(holds_within(kMostSeconds, [&] { return !complete_steps(path("run")).empty(); }))
        << job.err();
    const std::map<int, pid_t> processes = job.ranks();
    ASSERT_EQ(processes.size(), 3U) << job.err();
    ASSERT_EQ(kill(processes.at(victim), SIGSTOP), 0);
    const std::optional<Ended> ended = job.end_within(kMostSeconds);
    ASSERT_TRUE(ended.has_value()) << "it has not ended\n" << job.err();
    EXPECT_GT(ended->code, 2) << "no answer of the program: it may be started again";
    EXPECT_NE(ended->err.find(fmt::format("rank {} ", victim)), std::string::npos) << ended->err;
    EXPECT_NE(ended->err.find("has not answered"), std::string::npos) << ended->err;
    EXPECT_TRUE(holds_within(10, [&] { return job.ranks().empty(); })) << "a rank is left";
    EXPECT_FALSE(complete_steps(path("run")).empty());
  }
}

TEST_F(RanksProgram, LaunchStartsAKilledJobAgain) {
  const std::string options = "--lr 1e-3 --batch 1 --global-batch 4 --dp 2 --zero 1 --steps 30";
  const json::Value whole = answer(2, options);
  ASSERT_FALSE(whole.is_null());
  const std::string run = path("run");
  const std::string words = train_words(options + " --save-every 1 --out " + run);
  const std::string behind = words.substr(words.find(" --"));  // of "train MODEL --..."
  StartedJob job(fmt::format("env {} {} launch {} --run --restarts 2 --allow-run-as-root -- {}",
                             FOURHOLD_MPI_VARIABLES, FOURHOLD_PROGRAM, path("config.json"), behind),
                 folder());
  ASSERT_TRUE(holds_within(kMostSeconds, [&] {
    const std::vector<std::int64_t> steps = complete_steps(run);
    return !steps.empty() && steps.back() >= 3 && job.ranks().size() == 2;
  })) << job.err();
  ASSERT_EQ(kill(job.ranks().at(1), SIGKILL), 0);
  const std::optional<Ended> ended = job.end_within(2 * kMostSeconds);
  ASSERT_TRUE(ended.has_value()) << job.err();
  ASSERT_EQ(ended->code, 0) << ended->err;
  EXPECT_EQ(times(ended->err, "restart 1 of 2"), 1) << ended->err;
  EXPECT_EQ(times(ended->err, "restart 2 of 2"), 0) << ended->err;
  const json::Value result = json::parse(ended->out, "standard output");
  EXPECT_EQ(at(result, {"steps", "last"}), json::Value(30));
  EXPECT_EQ(losses_of(result).back(), losses_of(whole).back());
}

}  // namespace
}  // namespace fourhold

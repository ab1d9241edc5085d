// Ranks that die, at any moment: the job ends by itself, says who, and goes on as if nothing had
// been.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
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
  int ranks;
  const char* split;
};

// When a rank dies.
struct Kill {
  int victim;
  std::int64_t steps;  // complete since the start
  bool saving;         // while the next checkpoint is written
  std::chrono::microseconds delay;
};

class Killed : public RanksProgram {
 protected:
  static constexpr int kSteps = 40;

  void use(const Job& job) {
    job_ = job;
    fs::remove_all(path("run"));
    fs::remove_all(path("whole"));
  }
  // The job's run in that folder of the fixture's, from its newest checkpoint on.
  [[nodiscard]] std::string options(const char* out) const {
    return fmt::format(
        "--lr 1e-3 --batch 1 --global-batch 4 {} --steps {} --save-every 1 --resume auto --out {}",
        job_.split, kSteps, path(out));
  }
  [[nodiscard]] Kill drawn(std::mt19937& random, bool saving) const {
    const auto below = [&random](unsigned end) { return static_cast<int>(random() % end); };
    return {.victim = below(static_cast<unsigned>(job_.ranks)),
            .steps = below(3),
            .saving = saving,
            .delay = std::chrono::microseconds(below(saving ? 1500 : 30000))};
  }
  // Whether the checkpoint behind the newest is being written right now.
  [[nodiscard]] bool is_saving() const {
    return fs::exists(path("run") + fmt::format("/.step-{:08}.partial", newest() + 1));
  }
  [[nodiscard]] std::int64_t newest() const {
    const std::vector<std::int64_t> steps = complete_steps(path("run"));
    return steps.empty() ? 0 : steps.back();
  }

  // Starts the job, kills one of its ranks, and sees it end. Whether a save was cut by that: one
  // was under way, and its checkpoint never became complete.
  void run_and(const Kill& moment, bool& cut_a_save) const {
    const std::int64_t before = newest();
    StartedJob job(train_command(job_.ranks, options("run")), folder());
    // Not before the ranks have met, which the first then says: until then mpirun of Open MPI 4.1
    // alone could end the job, and may wait for ever for a rank that is killed while it reports.
    ASSERT_TRUE(holds_within(kMostSeconds, [&] {
      return static_cast<int>(job.ranks().size()) == job_.ranks &&
             newest() >= before + moment.steps && job.err().find("arena of") != std::string::npos;
    })) << job.err();
    const std::map<int, pid_t> processes = job.ranks();
    ASSERT_TRUE(processes.count(moment.victim) == 1) << job.err();
    if (moment.saving) {
      holds_within(kMostSeconds, [&] { return is_saving() || !job.is_running(); });
    }
    std::this_thread::sleep_for(moment.delay);
    const std::int64_t complete = newest();
    const bool saving = is_saving();
    ASSERT_EQ(kill(processes.at(moment.victim), SIGKILL), 0);
    const std::optional<Ended> ended = job.end_within(kMostSeconds);
    ASSERT_TRUE(ended.has_value()) << "it has not ended\n" << job.err();
    EXPECT_NE(ended->code, 0);
    EXPECT_NE(ended->err.find(fmt::format("rank {}", moment.victim)), std::string::npos)
        << ended->err;
    EXPECT_EQ(ended->out, "");
    EXPECT_TRUE(holds_within(10, [&] { return job.ranks().empty(); })) << "a rank is left";
    EXPECT_GE(newest(), before + moment.steps) << "a complete checkpoint is lost";
    ASSERT_LT(newest(), kSteps) << "it was done before the kill";
    cut_a_save = saving && newest() == complete;
  }

 private:
  Job job_{};
};

// Twenty kills, half of them aimed at a save; each start goes on from the checkpoint before. The
// losses at the end are those of a run that nobody touched, bit for bit. FOURHOLD_KILL_SEED draws
// other ranks and moments.
TEST_F(Killed, TwentyTimesItEndsNamesTheRankAndGoesOn) {
  constexpr int kKillsOfAJob = 10;
  const char* const asked = std::getenv("FOURHOLD_KILL_SEED");
  const unsigned seed = asked == nullptr ? 20260 : static_cast<unsigned>(std::atoi(asked));
  std::mt19937 random(seed);
  fmt::print("seed {}\n", seed);
  int kills = 0;
  int saves_cut = 0;
  for (const Job& job : {Job{2, "--zero 1"}, Job{4, "--tp 2 --sp on --pp 2"}}) {
    SCOPED_TRACE(job.split);
    use(job);
    const json::Value whole = answer(job.ranks, options("whole"));
    ASSERT_FALSE(whole.is_null());
    for (int i = 0; i < kKillsOfAJob; ++i) {
      const Kill moment = drawn(random, i % 2 == 0);
      const std::string text = fmt::format("kill {}: rank {} of {}, after {} steps and {} us{}",
                                           kills + 1, moment.victim, job.ranks, moment.steps,
                                           moment.delay.count(), moment.saving ? " of a save" : "");
      SCOPED_TRACE(text);
      bool cut_a_save = false;
      run_and(moment, cut_a_save);
      if (HasFatalFailure()) return;
      fmt::print("{}: step {} is complete{}\n", text, newest(), cut_a_save ? ", a save cut" : "");
      ++kills;
      saves_cut += cut_a_save ? 1 : 0;
    }
    const std::int64_t first = newest();
    const json::Value rest = answer(job.ranks, options("run"));
    ASSERT_FALSE(rest.is_null());
    EXPECT_EQ(at(rest, {"steps", "first"}), json::Value(first + 1));
    EXPECT_EQ(at(rest, {"steps", "last"}), json::Value(kSteps));
    const std::vector<double> expected = losses_of(whole);
    EXPECT_EQ(losses_of(rest), std::vector<double>(expected.begin() + first, expected.end()));
    EXPECT_EQ(at(rest, {"loss", "last"}), at(whole, {"loss", "last"}));
  }
  EXPECT_EQ(kills, 20);
  EXPECT_GE(saves_cut, 5) << "of ten aimed at saves";
  fmt::print("{} kills, {} of them cut a save\n", kills, saves_cut);
  RecordProperty("kills", kills);
  RecordProperty("saves_cut", saves_cut);
}

// A process that is stopped answers nobody; where it is the first, the second says so.
TEST_F(RanksProgram, ARankThatHangsIsNamedAndEndsTheJob) {
  struct Hang {
    int victim;
    const char* patience;
  };
  // The last as long as a job waits when nobody has said how long.
  for (const auto& [victim, patience] :
       {Hang{0, "--rank-timeout 3 "}, Hang{1, "--rank-timeout 3 "}, Hang{1, ""}}) {
    SCOPED_TRACE(fmt::format("rank {} {}", victim, patience));
    fs::remove_all(path("run"));
    StartedJob job(
        train_command(3, fmt::format("--lr 1e-3 --batch 1 --global-batch 3 --zero 1 --steps 100000 "
                                     "{}--save-every 5 --keep 1 --out {}",
                                     patience, path("run"))),
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

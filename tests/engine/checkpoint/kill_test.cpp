// A run is killed at random moments and resumed: the newest complete checkpoint is always one that
// was saved, bit for bit, and the run goes on from it as if nothing had happened.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "tests/engine/checkpoint/small_run.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

constexpr int kKills = 30;
constexpr char kSaveBegins = 'b';
constexpr char kSaveEnds = 'e';

// Trains and saves for ever, telling through the pipe when a save begins and ends.
[[noreturn]] void run_for_ever(const std::string& folder, int pipe) {
  SmallRun run;
  if (const auto path = latest_checkpoint(folder).path) run.load(*path);
  while (true) {
    for (int i = 0; i < 3; ++i) run.train();
    bool told = ::write(pipe, &kSaveBegins, 1) == 1;
    run.save(folder, 2);
    told = told && ::write(pipe, &kSaveEnds, 1) == 1;
    if (!told) ::_exit(1);
  }
}

// Reads until `wanted` has come `times` times; false when the pipe was closed.
bool wait_for(int pipe, char wanted, int times) {
  char got = 0;
  while (times > 0 && ::read(pipe, &got, 1) == 1) times -= got == wanted ? 1 : 0;
  return times == 0;
}

bool has_leftover(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".partial") || !is_complete(entry.path().string())) return true;
  }
  return false;
}

// The state of an uninterrupted run at that step.
void advance(SmallRun& run, std::int64_t step) {
  while (run.step() < step) run.train();
}

TEST(Kill, ARunKilledThirtyTimesGoesOnBitwiseFromItsNewestCompleteCheckpoint) {
  const model::TestFolder folder;
  std::mt19937_64 random(20240607);
  SmallRun uninterrupted;
  std::int64_t reached = 0;
  int during_a_save = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      run_for_ever(folder.path(), ends[1]);
    }
    ::close(ends[1]);
    // Every second one dies while it saves: after a random part of the time a save takes.
    const int saves = static_cast<int>(random() % 2);
    ASSERT_TRUE(wait_for(ends[0], kSaveBegins, 1));
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(wait_for(ends[0], kSaveEnds, 1));
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - begin);
    ASSERT_TRUE(wait_for(ends[0], kill % 2 == 0 ? kSaveBegins : kSaveEnds, saves + 1));
    const auto part = static_cast<std::int64_t>(random() % 1000) * took.count() / 1000;
    std::this_thread::sleep_for(std::chrono::microseconds(part));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the run ended by itself";
    ::close(ends[0]);
    during_a_save += has_leftover(folder.path()) ? 1 : 0;

    const Latest latest = latest_checkpoint(folder.path());
    ASSERT_TRUE(latest.path.has_value()) << "kill " << kill;
    SmallRun resumed;
    resumed.load(*latest.path);
    ASSERT_GT(resumed.step(), reached) << "kill " << kill << ": a finished save was lost";
    reached = resumed.step();
    advance(uninterrupted, reached);
    ASSERT_TRUE(resumed == uninterrupted) << "kill " << kill << " at step " << reached;
  }
  EXPECT_GT(during_a_save, 0) << "no kill met a save";
  RecordProperty("kills_during_a_save", during_a_save);
}

}  // namespace
}  // namespace fourhold::engine

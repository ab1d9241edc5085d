// `fourhold train` is killed with SIGKILL at thirty random moments, half of them while it saves,
// and goes on each time: what it ends with is, bit for bit, what an undisturbed run ends with.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/tested_isa/tested_isa.h"

namespace fourhold {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr int kKills = 30;
constexpr int kKillsWhileSaving = 15;
constexpr int kMostKills = 60;
constexpr auto kPatience = std::chrono::seconds(60);

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// ".step-00000012.partial" while that step is written, "step-00000012" from then on; complete when
// its marker is there (checkpoint_save.h).
std::optional<std::int64_t> step_named(const std::string& name) {
  const std::size_t at = name.find("step-");
  if (at == std::string::npos) return std::nullopt;
  return std::stoll(name.substr(at + 5));
}

struct OnDisk {
  std::int64_t complete = 0;    // the newest complete checkpoint's step, 0 without one
  std::int64_t unfinished = 0;  // the newest step that a save has begun and not ended
};
OnDisk look_into(const fs::path& folder) {
  OnDisk found;
  std::int64_t begun = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const std::optional<std::int64_t> step = step_named(name);
    if (!step) continue;
    const bool is_complete = name.front() != '.' && fs::exists(entry.path() / "complete.json");
    std::int64_t& newest = is_complete ? found.complete : begun;
    newest = std::max(newest, *step);
  }
  // An older one is being deleted.
  if (begun > found.complete) found.unfinished = begun;
  return found;
}

// Tells when a folder of that name appears in `folder`, by its making or by a renaming.
class Appearances {
 public:
  explicit Appearances(const fs::path& folder)
      : inotify_(inotify_init1(IN_CLOEXEC)),
        watch_(inotify_add_watch(inotify_, folder.c_str(), IN_CREATE | IN_MOVED_TO)) {}
  ~Appearances() { close(inotify_); }
  Appearances(const Appearances&) = delete;
  Appearances& operator=(const Appearances&) = delete;

  [[nodiscard]] bool works() const { return watch_ >= 0; }
  // Of a save that begins (made), or that is written and only lacks its marker (renamed).
  [[nodiscard]] bool wait_for_save(std::uint32_t how) {
    const Clock::time_point last = Clock::now() + kPatience;
    while (Clock::now() < last) {
      if (take(how)) return true;
      pollfd waiting{inotify_, POLLIN, 0};
      if (poll(&waiting, 1, 1000) > 0) read_events();
    }
    return false;
  }

 private:
  struct Event {
    std::uint32_t how = 0;
    std::string name;
  };
  [[nodiscard]] bool take(std::uint32_t how) {
    while (!events_.empty()) {
      const Event event = events_.front();
      events_.erase(events_.begin());
      const bool is_partial = event.name.front() == '.';
      if (!step_named(event.name) || (event.how & how) == 0) continue;
      if (is_partial == (how == IN_CREATE)) return true;
    }
    return false;
  }
  void read_events() {
    alignas(inotify_event) std::array<char, 65536> buffer{};
    const ssize_t count = read(inotify_, buffer.data(), buffer.size());
    for (ssize_t at = 0; at < count;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if (event.len > 0) {
        events_.push_back({event.mask, std::string(buffer.data() + at + sizeof event)});
      }
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }

  int inotify_;
  int watch_;
  std::vector<Event> events_;
};

class Kill : public ::testing::Test {
 protected:
  Kill() {
    folder_ = (fs::temp_directory_path() / "fourhold-kill-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) ADD_FAILURE() << folder_;
    fs::create_directory(run());
    std::ofstream(path("config.json"))
        << R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4, "n_positions": 32,)"
        << R"("vocab_size": 257, "attn_pdrop": 0, "embd_pdrop": 0, "resid_pdrop": 0})";
  }
  ~Kill() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string run() const { return path("run"); }
  [[nodiscard]] std::string command(std::int64_t steps, const std::string& options) const {
    return std::string(FOURHOLD_PROGRAM) + " train " + path("config.json") +
           engine::testing::tested_isa_option() +
           " --lr 1e-3 --decay constant --warm-up 0 --batch 1 --seq 16 --threads 1 --held-out 0"
           " --device none --steps " +
           std::to_string(steps) + " " + options + " > /dev/null 2> " + path("err");
  }
  [[nodiscard]] std::string resumed_for_ever() const {
    return command(1'000'000, "--save-every 10 --keep 2 --resume auto --out " + run());
  }
  [[nodiscard]] int shell(const std::string& words) const {
    const int status = std::system(words.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] static pid_t start(const std::string& words) {
    const pid_t child = fork();
    if (child != 0) return child;
    execl("/bin/sh", "sh", "-c", ("exec " + words).c_str(), nullptr);
    _exit(127);
  }

 private:
  std::string folder_;
};

TEST_F(Kill, ThirtyTimesAndTheEndIsThatOfAnUndisturbedRun) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed of the moments: " << seed << "\n";
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto random_part = [&](Clock::duration of) {
    const auto most = std::chrono::duration_cast<microseconds>(of).count();
    return microseconds(std::uniform_int_distribution<std::int64_t>(0, most)(random));
  };

  int kills = 0;
  int while_saving = 0;
  int resumed = 0;
  std::int64_t reached = 0;
  Clock::duration begin_to_save{};  // from the start of the program to its first save
  for (; kills < kMostKills && (kills < kKills || while_saving < kKillsWhileSaving); ++kills) {
    Appearances appearances(run());
    ASSERT_TRUE(appearances.works());
    fs::remove(path("err"));  // a child that is killed at once would leave that of the one before
    const Clock::time_point began = Clock::now();
    const pid_t child = start(resumed_for_ever());
    ASSERT_GT(child, 0);
    if (kills % 2 == 0) {
      // Within a save: a random part of what the one before it took.
      ASSERT_TRUE(appearances.wait_for_save(IN_CREATE)) << text_of(path("err"));
      const Clock::time_point first = Clock::now();
      begin_to_save = first - began;
      ASSERT_TRUE(appearances.wait_for_save(IN_MOVED_TO)) << text_of(path("err"));
      const Clock::duration took = Clock::now() - first;
      ASSERT_TRUE(appearances.wait_for_save(IN_CREATE)) << text_of(path("err"));
      std::this_thread::sleep_for(random_part(took));
    } else {
      // At any moment: while it starts, reads the checkpoint, trains, or saves.
      std::this_thread::sleep_for(random_part(3 * begin_to_save));
    }
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "kill " << kills << ": the run ended by itself: " << text_of(path("err"));
    // It began with the newest checkpoint that was complete, if it came so far.
    const std::string said = text_of(path("err"));
    if (reached > 0 && said.find("\nstep ") != std::string::npos) {
      ++resumed;
      EXPECT_NE(said.find(" after step " + std::to_string(reached) + "\n"), std::string::npos)
          << "kill " << kills << ", complete: " << reached << "\n"
          << said;
    }
    const OnDisk left = look_into(run());
    ASSERT_GE(left.complete, reached) << "kill " << kills << ": a finished save was lost";
    reached = left.complete;
    while_saving += left.unfinished > 0 ? 1 : 0;
  }
  std::cout << kills << " kills, " << while_saving << " of them during a save, " << resumed
            << " of runs that had gone on; " << reached << " steps saved\n";
  EXPECT_GE(kills, kKills);
  EXPECT_GE(resumed, kKillsWhileSaving - 1);  // all but the first of those that reach a save
  EXPECT_GE(while_saving, kKillsWhileSaving);
  RecordProperty("kills", kills);
  RecordProperty("kills_during_a_save", while_saving);

  const std::int64_t last = reached + 3;
  ASSERT_EQ(shell(command(last, "--resume auto --out " + run())), 0) << text_of(path("err"));
  ASSERT_EQ(shell(command(last, "--out " + path("whole"))), 0) << text_of(path("err"));
  const OnDisk whole = look_into(path("whole"));
  ASSERT_EQ(whole.complete, last);
  ASSERT_EQ(look_into(run()).complete, last);
  const std::string number = std::to_string(last);
  const std::string step = "step-" + std::string(8 - number.size(), '0') + number;
  for (const char* file : {"model.safetensors", "state-00001-of-00001.safetensors"}) {
    const std::string expected = text_of(path("whole") + "/" + step + "/" + file);
    ASSERT_GT(expected.size(), 100'000U) << file;
    EXPECT_TRUE(text_of(run() + "/" + step + "/" + file) == expected) << file << " differs";
  }
}

}  // namespace
}  // namespace fourhold

// The engine's program as a shell sees it: full disks, readers that leave, and signals.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/tested_isa/tested_isa.h"

namespace fourhold {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = FOURHOLD_PROGRAM;
const std::string kModel = std::string(FOURHOLD_SOURCE_DIR) + "/data/examples/small-gpt2.json";

// A training of the small model, up to its number of steps.
std::string train_command() {
  return kProgram + " train " + kModel + engine::testing::tested_isa_option() +
         " --lr 1e-3 --batch 1 --seq 16 --threads 1 --held-out 0 --device none --steps ";
}
std::string sample_command() {
  return kProgram + " sample" + engine::testing::tested_isa_option() + " ";
}

class Program : public ::testing::Test {
 protected:
  Program() {
    folder_ = (fs::temp_directory_path() / "fourhold-program-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) ADD_FAILURE() << folder_;
  }
  ~Program() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The exit code of a shell's command; what it says on standard error goes to the file "err".
  [[nodiscard]] int shell(const std::string& command) const {
    const int status = std::system(("( " + command + " ) 2> " + path("err")).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  std::string folder_;
};

TEST_F(Program, AnOutputThatCannotBeWrittenIsSaidAndIsNoFaultOfOurs) {
  for (const std::string& command : {train_command() + "1", train_command() + "1 --json",
                                     kProgram + " train --help", kProgram + " params gpt2"}) {
    EXPECT_EQ(shell(command + " > /dev/full"), 2) << command;
    EXPECT_NE(text("err").find("standard output: cannot be written: No space left on device"),
              std::string::npos)
        << text("err");
  }
}

TEST_F(Program, AnOutputThatIsALinkIsWrittenBehindIt) {
  const std::string plan = kProgram + " plan gpt2 --device h100 --count 1 -o ";
  ASSERT_EQ(shell(": > " + path("real") + " && ln -s real " + path("link")), 0);
  ASSERT_EQ(shell(plan + path("link") + " > /dev/null"), 0) << text("err");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text("real").front(), '{');
  // Standard output by its name stays what it is, too: the plan stands before the answer.
  const bool linked = fs::is_symlink("/dev/stdout");
  ASSERT_EQ(shell(plan + "/dev/stdout > " + path("out")), 0) << text("err");
  EXPECT_EQ(text("out").rfind(text("real"), 0), 0U);
  EXPECT_EQ(fs::is_symlink("/dev/stdout"), linked);
}

TEST_F(Program, ASaveWithoutItsMarkerIsNeitherSampledNorAskedForStalls) {
  ASSERT_EQ(shell(train_command() + "1 --out " + path("run") + " > /dev/null"), 0) << text("err");
  const std::string saved = path("run/step-00000001");
  EXPECT_EQ(shell(kProgram + " stall " + saved + "/state-00001-of-00001.safetensors --lr 1e-3"), 2);
  EXPECT_NE(text("err").find("is optimizer state, not weights"), std::string::npos) << text("err");
  fs::remove(saved + "/complete.json");
  for (const std::string& command :
       {sample_command() + saved + " --tokens 3", kProgram + " stall " + saved + " --lr 1e-3"}) {
    EXPECT_EQ(shell(command + " > /dev/null"), 2) << command;
    EXPECT_NE(text("err").find("has no complete.json: its save was not finished"),
              std::string::npos)
        << text("err");
  }
  // Its weights alone are anybody's.
  fs::remove(saved + "/run.json");
  EXPECT_EQ(shell(kProgram + " stall " + saved + " --lr 1e-3 > /dev/null"), 0) << text("err");
}

// The length of the header in 8 bytes, the header, the data (safetensors' format).
void write_safetensors(const std::string& path, const std::string& header,
                       const std::string& data) {
  std::ofstream(path, std::ios::binary)
      << static_cast<char>(header.size()) << std::string(7, '\0') << header << data;
}

TEST_F(Program, StallsAreAskedOfWeightsThatThereAre) {
  const std::string ask = kProgram + " stall " + path("m.safetensors") + " --lr 1e-3 > /dev/null";
  write_safetensors(path("m.safetensors"), "{}", "");
  EXPECT_EQ(shell(ask), 2);
  EXPECT_NE(text("err").find("holds no tensors"), std::string::npos) << text("err");
  write_safetensors(path("m.safetensors"),
                    R"({"ids":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})",
                    std::string(4, '\0'));
  EXPECT_EQ(shell(ask), 2);
  EXPECT_NE(text("err").find("holds no weights: ids"), std::string::npos) << text("err");
  // 0, then a NaN of binary32.
  write_safetensors(path("m.safetensors"),
                    R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                    std::string("\0\0\0\0\0\0\xC0\x7F", 8));
  EXPECT_EQ(shell(ask), 2);
  EXPECT_NE(text("err").find("tensor w is not finite: element 1"), std::string::npos)
      << text("err");
}

TEST_F(Program, ACheckpointWithAChangedByteIsNeitherSampledNorTrainedFrom) {
  ASSERT_EQ(shell(train_command() + "1 --out " + path("run") + " > /dev/null"), 0) << text("err");
  const std::string saved = path("run/step-00000001");
  ASSERT_EQ(
      shell("printf XX | dd of=" + saved + "/model.safetensors bs=1 seek=900000 conv=notrunc"), 0);
  for (const std::string& command :
       {sample_command() + saved + " --tokens 3",
        sample_command() + saved + "/model.safetensors --tokens 3",
        kProgram + " stall " + saved + " --lr 1e-3",
        kProgram + " train " + saved + " --lr 1e-3 --batch 1 --seq 16 --device none --steps 1"}) {
    EXPECT_EQ(shell(command), 2) << command;
    EXPECT_NE(text("err").find("not those that were saved"), std::string::npos) << text("err");
  }
}

TEST_F(Program, ALimitOnTheSizeOfFilesIsAnErrorThatLeavesNothingHalf) {
  EXPECT_EQ(shell("ulimit -f 500; " + train_command() + "1 --out " + path("run")), 2);
  EXPECT_NE(text("err").find("File too large"), std::string::npos) << text("err");
  for (const fs::directory_entry& entry : fs::directory_iterator(path("run"))) {
    EXPECT_EQ(entry.path().filename().string().find("step-"), std::string::npos) << entry.path();
  }
}

TEST_F(Program, AFullDiskDuringALogEndsTheRunWithTheLastCheckpointWhole) {
  const std::string out = " --out " + path("run");
  ASSERT_EQ(shell(train_command() + "2" + out), 0) << text("err");
  ASSERT_EQ(shell("ln -sf /dev/full " + path("run/log.jsonl")), 0);
  EXPECT_EQ(shell(train_command() + "4 --resume auto" + out), 2);
  EXPECT_NE(text("err").find("log.jsonl: cannot be written: No space left on device"),
            std::string::npos)
      << text("err");
  EXPECT_FALSE(fs::exists(path("run/step-00000004")));
  EXPECT_EQ(shell(sample_command() + path("run") + " --tokens 2"), 0) << text("err");
  ASSERT_EQ(shell("rm " + path("run/log.jsonl")), 0);
  EXPECT_EQ(shell(train_command() + "4 --resume auto" + out), 0) << text("err");
}

// The last checkpoint is lost: the run goes on from the one before, and does steps 3 and 4 again.
TEST_F(Program, AStepThatIsDoneAgainStandsOnceInTheLog) {
  const std::string out = " --save-every 2 --out " + path("run") + " > /dev/null";
  ASSERT_EQ(shell(train_command() + "4" + out), 0) << text("err");
  ASSERT_EQ(shell("echo '{\"note\": \"kept\"}' >> " + path("run/log.jsonl")), 0);
  ASSERT_EQ(shell("printf '{\"step\": 5, \"lo' >> " + path("run/log.jsonl")), 0);  // torn off
  const std::string before = text("run/log.jsonl");
  fs::remove_all(path("run/step-00000004"));
  ASSERT_EQ(shell(train_command() + "6 --resume auto" + out), 0) << text("err");
  EXPECT_NE(text("err").find("goes on with step 3: 3 lines"), std::string::npos) << text("err");
  const std::string after = text("run/log.jsonl");
  const std::size_t two = before.find("{\"step\": 3,");
  ASSERT_NE(two, std::string::npos) << before;
  EXPECT_EQ(after.substr(0, two), before.substr(0, two));  // not a byte of what was done once
  EXPECT_NE(after.find("kept"), std::string::npos);
  for (int step = 1; step <= 6; ++step) {
    const std::string line = "{\"step\": " + std::to_string(step) + ",";
    const std::size_t first = after.find(line);
    ASSERT_NE(first, std::string::npos) << after;
    EXPECT_EQ(after.find(line, first + 1), std::string::npos) << after;
  }
}

TEST_F(Program, ARefusedResumptionSaysNothingBeforeItsReason) {
  const std::string out = " --out " + path("run");
  ASSERT_EQ(shell(train_command() + "2" + out), 0) << text("err");
  ASSERT_EQ(shell("echo '{}' > " + path("run/step-00000002/complete.json")), 0);
  EXPECT_EQ(shell(train_command() + "4 --resume auto" + out), 2);
  EXPECT_EQ(text("err").find("fourhold: --resume: auto finds no whole checkpoint"), 0U)
      << text("err");
  // What is lost of a marker is not for people to add.
  EXPECT_EQ(shell(sample_command() + path("run/step-00000002")), 2);
  EXPECT_NE(text("err").find("complete.json: schema: is missing\n"
                             "hint: the marker is damaged: use an older checkpoint"),
            std::string::npos)
      << text("err");
}

TEST_F(Program, TheGenerationConfigBesideAModelCountsWhereNoFlagDoes) {
  ASSERT_EQ(shell(train_command() + "1 --out " + path("run")), 0) << text("err");
  const std::string model = path("run/step-00000001");
  const auto write = [&](const std::string& config) {
    std::ofstream(model + "/generation_config.json") << config;
  };
  const auto sample = [&](const std::string& flags) {
    const int code =
        shell(sample_command() + model + " --tokens 4 --threads 1 " + flags + " > " + path("out"));
    return code == 0 ? text("out") : "exit code " + std::to_string(code);
  };
  const std::string likeliest = sample("--temperature 0");
  const std::string own = sample("--seed 3 --temperature 1.5 --top-k 40");
  write(R"({"do_sample": false, "transformers_version": "4.42.3"})");
  EXPECT_EQ(sample(""), likeliest);
  EXPECT_NE(text("err").find("generation_config.json says do_sample false"), std::string::npos);
  EXPECT_EQ(sample("--seed 3 --temperature 1.5 --top-k 40"), own);
  write(R"({"do_sample": true, "temperature": 1.5, "top_k": 40, "repetition_penalty": 1.1})");
  EXPECT_EQ(sample("--seed 3"), own);
  EXPECT_NE(text("err").find("generation_config.json says temperature 1.5, top_k 40"),
            std::string::npos)
      << text("err");
  EXPECT_NE(text("err").find("sets repetition_penalty, which is not applied"), std::string::npos);
  EXPECT_EQ(sample("--temperature 0"), likeliest);
  write(R"({"temperature": -1})");
  EXPECT_EQ(sample(""), "exit code 2");
  EXPECT_NE(text("err").find("generation_config.json: temperature: is -1"), std::string::npos);
}

TEST_F(Program, AReaderThatLeavesEndsItWithoutAWord) {
  // `head` has its exit code; what the program says stays empty of faults.
  EXPECT_EQ(shell(train_command() + "1 --json | head -n 1 > " + path("out")), 0);
  EXPECT_EQ(text("out"), "{\n");
  EXPECT_EQ(text("err").find("fourhold:"), std::string::npos) << text("err");
  // Standard error that nobody reads does not end a run.
  EXPECT_EQ(
      shell("( " + train_command() + "3 --out " + path("run") + " 2>&1 >/dev/null ) | head -n 1"),
      0);
  EXPECT_TRUE(fs::exists(path("run/step-00000003/complete.json")));
}

TEST_F(Program, APipeADeviceAFolderAndAnEmptyFileAreNoDataAndAreNotWaitedFor) {
  ASSERT_EQ(shell("mkfifo " + path("pipe.bin") + " && : > " + path("empty.bin")), 0);
  struct Input {
    std::string name;
    std::string said;
  };
  for (const Input& input : {Input{path("pipe.bin"), "is a pipe"},
                             Input{"/dev/null", "is a device"}, Input{path(""), "is a folder"}}) {
    for (const std::string& command :
         {train_command() + "1 --data " + input.name,
          kProgram + " tokenize " + input.name + " -o " + path("o.bin"),
          kProgram + " stall --lr 1 " + input.name}) {
      EXPECT_EQ(shell("timeout 20 " + command), 2) << command;
      if (command.find(" stall") == std::string::npos) {
        EXPECT_NE(text("err").find(input.said), std::string::npos) << text("err");
      }
    }
  }
  EXPECT_EQ(shell(train_command() + "1 --data " + path("empty.bin")), 2);
  EXPECT_NE(text("err").find("empty.bin: byte 0: is empty"), std::string::npos) << text("err");
  EXPECT_EQ(shell(kProgram + " tokenize " + path("empty.bin") + " -o " + path("o.bin")), 2);
  EXPECT_NE(text("err").find("empty.bin: holds no text"), std::string::npos) << text("err");
  EXPECT_EQ(shell("echo text | " + kProgram + " tokenize /dev/stdin -o " + path("o.bin")), 2);
  EXPECT_NE(text("err").find("/dev/stdin: is a pipe"), std::string::npos) << text("err");
}

// --- signals ------------------------------------------------------------------------------------

// A long run in a process of its own, whose log shows when it is under way.
class Stopped : public Program {
 protected:
  void start() {
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ > 0) return;
    const std::string command = "exec " + train_command() +
                                "1000000 --save-every 20 --keep 2 --out " + path("run") +
                                " > /dev/null 2> " + path("err");
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  void wait_for_a_checkpoint() const {
    for (int i = 0; i < 6000 && !fs::exists(path("run/step-00000020/complete.json")); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void send(int signal) const { ASSERT_EQ(kill(child_, signal), 0); }
  [[nodiscard]] int ended() const {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // The exit code of one step more from the newest finished checkpoint.
  [[nodiscard]] int resumed() const {
    std::string newest;
    for (const auto& entry : fs::directory_iterator(path("run"))) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("step-") && fs::exists(entry.path() / "complete.json")) {
        newest = std::max(newest, name);
      }
    }
    const std::string steps = std::to_string(std::stoll(newest.substr(5)) + 1);
    return shell(train_command() + steps + " --out " + path("run") + " --resume auto > /dev/null");
  }

 private:
  pid_t child_ = -1;
};

TEST_F(Stopped, TheFirstSignalEndsTheStepSavesAndAnswersNo) {
  start();
  wait_for_a_checkpoint();
  send(SIGTERM);
  EXPECT_EQ(ended(), 1);
  EXPECT_NE(text("err").find("stopping after this step"), std::string::npos);
  EXPECT_NE(text("err").find("go on with --resume auto"), std::string::npos);
  EXPECT_EQ(resumed(), 0) << text("err");
}

TEST_F(Stopped, TheSecondSignalLosesNothing) {
  start();
  wait_for_a_checkpoint();
  // While it is stopped two of a kind would become one.
  send(SIGSTOP);
  send(SIGINT);
  send(SIGTERM);
  send(SIGCONT);
  EXPECT_EQ(ended(), 1);
  EXPECT_NE(text("err").find("go on with --resume auto"), std::string::npos) << text("err");
  EXPECT_EQ(resumed(), 0) << text("err");
}

TEST_F(Stopped, TheThirdSignalEndsAtOnceAndLeavesTheCheckpointBeforeWhole) {
  start();
  wait_for_a_checkpoint();
  send(SIGSTOP);
  send(SIGINT);
  send(SIGTERM);
  send(SIGHUP);
  send(SIGCONT);
  EXPECT_GT(ended(), 128);
  EXPECT_EQ(resumed(), 0) << text("err");
}

}  // namespace
}  // namespace fourhold

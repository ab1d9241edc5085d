// `fourhold launch --run` with a stand-in for mpirun: what it is asked, its exit codes, and
// signals.
#include <gtest/gtest.h>
#include <sys/stat.h>
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

namespace fourhold {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = FOURHOLD_PROGRAM;
const std::string kModel = std::string(FOURHOLD_SOURCE_DIR) + "/data/examples/small-gpt2.json";
const std::string kTrain =
    " -- --dp 4 --grad-accum 3 --seq 16 --threads 1 --steps 9 --lr 1e-3 --out run --save-every 3";

class Launch : public ::testing::Test {
 protected:
  Launch() {
    folder_ = (fs::temp_directory_path() / "fourhold-launch-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) ADD_FAILURE() << folder_;
  }
  ~Launch() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name)) << content;
    chmod(path(name).c_str(), 0755);
  }
  // mpirun is a script: its words join the file "calls".
  void mpirun_does(const std::string& script) const {
    write("mpirun",
          "#!/bin/sh\ncd " + folder_ + "\nprintf '%s\\n' \"$*\" >> calls\n" + script + "\n");
  }
  [[nodiscard]] std::string command(const std::string& options) const {
    return "cd " + folder_ + " && PATH=" + folder_ +
           ":$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 exec " + kProgram +
           " launch " + kModel + " " + options + kTrain + " 2> " + path("err");
  }
  [[nodiscard]] int launch(const std::string& options) const {
    const int status = std::system(("( " + command(options) + " )").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] std::ptrdiff_t calls() const {
    const std::string all = text("calls");
    return std::count(all.begin(), all.end(), '\n');
  }
  bool wait_for(const std::string& name) const {
    for (int i = 0; i < 1000 && !fs::exists(path(name)); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return fs::exists(path(name));
  }

 private:
  std::string folder_;
};

TEST_F(Launch, TheExitCodeIsThatOfTheJob) {
  for (const int code : {0, 1, 2, 3, 137}) {
    mpirun_does("exit " + std::to_string(code));
    EXPECT_EQ(launch("--run"), code) << text("err");
  }
  EXPECT_EQ(calls(), 5);
  mpirun_does("kill -9 $$");
  EXPECT_EQ(launch("--run"), 137) << text("err");
}

TEST_F(Launch, AFailureIsStartedAgainFromTheNewestCheckpoint) {
  mpirun_does("[ $(wc -l < calls) -ge 3 ] || exit 137");
  EXPECT_EQ(launch("--restarts 5"), 0) << text("err");
  EXPECT_EQ(calls(), 3);
  const std::string first = text("calls").substr(0, text("calls").find('\n'));
  EXPECT_EQ(first.find("--resume"), std::string::npos) << first;
  EXPECT_NE(text("calls").find("--resume auto"), std::string::npos) << text("calls");
  EXPECT_NE(text("err").find("restart 2 of 5"), std::string::npos) << text("err");
}

TEST_F(Launch, RestartsAreCounted) {
  mpirun_does("exit 139");
  EXPECT_EQ(launch("--restarts 2"), 139);
  EXPECT_EQ(calls(), 3);
}

TEST_F(Launch, BadInputIsNotStartedAgain) {
  mpirun_does("exit 2");
  EXPECT_EQ(launch("--restarts 2"), 2);
  EXPECT_EQ(calls(), 1);
}

// Of four hosts "c" no longer starts a program: 4 x 3 micro-batches become 3 x 4.
TEST_F(Launch, ALostHostIsLeftOutAndTheGlobalBatchStays) {
  write("hosts", "a slots=1\nb slots=1\nc slots=1\nd slots=1\n");
  mpirun_does(
      "case \"$*\" in\n"
      "  *'--host c:1 '*) exit 1;;\n"        // the probe of the lost host
      "  *'--hostfile hosts '*) exit 1;;\n"  // the first run
      "esac");
  EXPECT_EQ(launch("--hostfile hosts --restarts 1"), 0) << text("err");
  EXPECT_NE(text("err").find("c does not answer: dp 3 x grad_accum 4 on 3 ranks"),
            std::string::npos)
      << text("err");
  const std::string all = text("calls");
  const std::string last = all.substr(all.rfind('\n', all.size() - 2) + 1);
  for (const char* part : {"-n 3 ", "--host a:1,b:1,d:1 ", "--dp 3 ", "--grad-accum 4 ",
                           "--count 3 ", "--resume auto"}) {
    EXPECT_NE(last.find(part), std::string::npos) << part << " in " << last;
  }
  EXPECT_EQ(last.find("--dp 4"), std::string::npos) << last;
}

TEST_F(Launch, AnInterruptReachesTheJobOnceAndNothingIsStartedAgain) {
  // The job saves for a moment before it ends, as ranks do.
  mpirun_does(
      "trap 'echo stop >> stops; sleep 0.3; exit 1' USR1\n"
      ": > running\nwhile :; do sleep 0.05; done");
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command("--restarts 5").c_str(), nullptr);
    _exit(127);
  }
  ASSERT_TRUE(wait_for("running")) << text("err");
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 1) << text("err");
  EXPECT_EQ(text("stops"), "stop\n");
  EXPECT_EQ(calls(), 1);
}

TEST_F(Launch, ALauncherThatIsNotThereIsSaid) {
  const std::string bare = "cd " + path("") + " && PATH=/nowhere OMPI_ALLOW_RUN_AS_ROOT=1 " +
                           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " + kProgram + " launch " + kModel +
                           " --run" + kTrain + " 2> " + path("err");
  const int status = std::system(("( " + bare + " )").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_NE(text("err").find("mpirun: is not there"), std::string::npos) << text("err");
}

}  // namespace
}  // namespace fourhold

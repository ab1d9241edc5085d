#include "tests/cases/harness/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fourhold/base/error.h"

namespace fourhold::cases {
namespace {

constexpr int kCannotStart = 127;

// Output goes to files of the system's temporary folder: pipes would need both to be drained at
// once. They are unlinked at once and live as long as the descriptor.
class OutputFile {
 public:
  OutputFile() {
    std::string name = (std::filesystem::temp_directory_path() / "fourhold-out-XXXXXX").string();
    descriptor_ = mkstemp(name.data());
    if (descriptor_ < 0) throw Error(name, "cannot create a temporary file");
    unlink(name.c_str());
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() { close(descriptor_); }

  [[nodiscard]] int descriptor() const { return descriptor_; }

  [[nodiscard]] std::string text() const {
    std::string text;
    std::string block(1 << 16, '\0');
    lseek(descriptor_, 0, SEEK_SET);
    for (ssize_t got = 0; (got = ::read(descriptor_, block.data(), block.size())) > 0;) {
      text.append(block, 0, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int descriptor_ = -1;
};

[[noreturn]] void become(const Command& command, const OutputFile& out, const OutputFile& err) {
  alarm(command.timeout_seconds);  // survives exec; its signal ends the program
  unsetenv("COLUMNS");
  unsetenv("NO_COLOR");
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(out.descriptor(), STDOUT_FILENO);
  dup2(err.descriptor(), STDERR_FILENO);
  std::vector<std::string> words{command.program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (chdir(command.folder.c_str()) == 0) execv(command.program.c_str(), pointers.data());
  _exit(kCannotStart);
}

}  // namespace

Outcome run_process(const Command& command) {
  const OutputFile out;
  const OutputFile err;
  const pid_t child = fork();
  if (child < 0) throw Error(command.program, "cannot start a process");
  if (child == 0) become(command, out, err);
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome{.exit_code = WEXITSTATUS(status), .out = out.text(), .err = err.text()};
  if (WIFSIGNALED(status)) outcome.exit_code = 128 + WTERMSIG(status);
  if (outcome.exit_code == kCannotStart) {
    throw Error(command.program, "cannot be started", "build it, and pass its absolute path");
  }
  return outcome;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path, "cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace fourhold::cases

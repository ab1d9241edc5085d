#include "apps/cli/engine_program.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fourhold/base/error.h"

namespace fourhold::cli {
namespace {

constexpr const char* kName = "fourhold-engine";

// OpenMP's threads wait by spinning, which is right where cores are ours alone and a hundred times
// slower where they are not: a short spin costs nothing in the first case. Read by libgomp as it is
// loaded, so it must stand in the environment before. It would outweigh OMP_WAIT_POLICY, which the
// user, or `launch` for each rank, may have set; launch itself only hands its environment on.
void set_waiting(const std::string& verb) {
  if (verb == "launch" || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "1000", 0);
}

std::string engine_path() {
  std::error_code fault;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", fault);
  return (own.parent_path() / kName).string();
}

}  // namespace

bool has_engine() { return access(engine_path().c_str(), X_OK) == 0; }

void become_engine(const std::vector<std::string>& words) {
  const std::string program = engine_path();
  std::vector<char*> arguments{const_cast<char*>(kName)};  // exec changes none of them
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  set_waiting(words.front());
  execv(program.c_str(), arguments.data());
  if (errno == ENOENT) {
    throw Error(words.front(), "needs the training engine, and " + program + " is not there",
                "build with -DFOURHOLD_ENGINE=ON: the target is fourhold-engine");
  }
  throw Error(program, std::string("cannot be started: ") + std::strerror(errno),
              "check that the file may be executed");
}

}  // namespace fourhold::cli

// The collectives over MPI: what tests of threads check, checked between processes.
//
// Usage, under mpirun:
//   suite collectives   random cases; prints their digest, which threads must give as well
//   suite parts         messages of three times what MPI takes at once
//   suite throw|hang|die RANK   that rank fails as said while the others wait for it
//   suite gather RANK   that rank is killed while a gather of all is under way
//   suite early         one rank ends well before the others
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/engine/communicator/mpi_communicator.h"
#include "fourhold/engine/communicator/thread_communicator.h"
#include "fourhold/engine/launch/launcher.h"
#include "tests/engine/communicator/collective_suite.h"
#include "tests/engine/communicator/mpi/count_sends.h"

namespace fourhold::engine {
namespace {

constexpr Seconds kShortTimeout{5};
constexpr Seconds kLongTimeout{200};  // eight ranks and the check of one more share two cores

void say(const std::string& text) { std::fputs((text + "\n").c_str(), stdout); }

// Ranks 1 and up come to rank 0 when they are done, whatever time rank 0 needs.
bool same_over_threads(int ranks, const SuiteOptions& options, std::uint64_t digest) {
  std::uint64_t of_threads = 0;
  run_ranks(ranks, [&](Communicator& communicator) {
    const SuiteReport report = run_suite(communicator, options);
    if (communicator.rank() == 0) of_threads = report.digest;
  });
  return of_threads == digest;
}

int check_collectives(Communicator& world, const SuiteOptions& options) {
  static_cast<void>(take_counted_bytes());
  const SuiteReport report = run_suite(world, options);
  const BytesOfKind counted = take_counted_bytes();
  std::vector<std::string> faults = report.faults;
  for (std::size_t kind = 0; kind < counted.size(); ++kind) {
    const std::int64_t own = report.traffic.of_kind[kind].bytes;
    if (counted[kind] == own) continue;
    faults.push_back("collective " + std::to_string(kind) + ", counted at MPI: " +
                     std::to_string(counted[kind]) + " bytes, by us: " + std::to_string(own));
  }
  if (uncounted_call() != nullptr) faults.push_back(std::string(uncounted_call()) + " was called");
  if (world.rank() == 0) {
    if (!same_over_threads(world.size(), options, report.digest)) {
      faults.emplace_back("threads give other numbers");
    }
    say(world.name() + ", " + std::to_string(world.size()) + " ranks: digest " +
        std::to_string(report.digest) + ", " + std::to_string(report.traffic.bytes()) +
        " bytes from rank 0");
  }
  for (const std::string& fault : faults) say(fault);
  return faults.empty() ? 0 : 1;
}

// Every rank waits for a message of `rank` that never comes.
int wait_for(Communicator& world, int rank) {
  int value = 0;
  const Message message = world.receive(rank, 9, std::as_writable_bytes(std::span(&value, 1)));
  world.wait({&message, 1});
  return 0;
}

// Every rank starts a gather that ends with the piece of a rank that is killed meanwhile.
int gather_without(Communicator& world, int rank) {
  std::vector<float> own(1U << 20U, 1.0F);
  std::vector<float> whole(own.size() * static_cast<std::size_t>(world.size()));
  Group all{{}, world.rank()};
  for (int each = 0; each < world.size(); ++each) all.ranks.push_back(each);
  const auto tensor = [](std::vector<float>& values) {
    return Tensor{reinterpret_cast<std::byte*>(values.data()), DType::fp32,
                  Dims{static_cast<std::int64_t>(values.size())}};
  };
  Collectives collectives(world, {}, 1);
  if (world.rank() == rank) std::raise(SIGKILL);
  collectives.start_all_gather(all, tensor(own), tensor(whole));
  collectives.advance();
  collectives.finish_gathers();
  return 0;
}

int run(Communicator& world, const std::string& what, int rank) {
  if (what == "collectives") {
    const int faults = check_collectives(world, {.seed = 3, .cases = 120, .long_tensors = true});
    return faults + check_collectives(world, {.seed = 4, .cases = 250, .threads = 2});
  }
  if (what == "parts") return check_collectives(world, {.seed = 5, .cases = 100});
  if (what == "early") {
    // The last one is late by more than pauses are long.
    if (world.rank() + 1 == world.size()) std::this_thread::sleep_for(std::chrono::seconds(1));
    return 0;
  }
  if (what == "gather") return gather_without(world, rank);
  if (world.rank() != rank) return wait_for(world, rank);
  if (what == "throw") throw Error("step 12", "the loss is not finite");
  if (what == "die") {
    std::raise(SIGKILL);
  } else if (what == "hang") {
    std::this_thread::sleep_for(std::chrono::seconds(300));
  } else {
    throw std::invalid_argument("no such test: " + what);
  }
  return 0;
}

// As a program does it: the message first, then the others hear of it.
int run_caught(const std::string& what, int rank) {
  MpiOptions options;
  options.timeout = what == "hang" ? kShortTimeout : kLongTimeout;
  if (what == "parts") options.largest_message_bytes = 5000;
  const std::unique_ptr<Communicator> world = mpi_world(options);
  try {
    return run(*world, what, rank);
  } catch (const Error& error) {
    const std::string text = error.where() + ": " + error.what();
    std::fprintf(stderr, "at rank %d, %s\n", world->rank(), text.c_str());
    world->fail({world->rank(), text});
    return static_cast<int>(error.exit_code());
  }
}

}  // namespace
}  // namespace fourhold::engine

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: suite collectives|parts|early|throw|hang|die|gather [RANK]\n", stderr);
    return 2;
  }
  if (!fourhold::engine::started_as(fourhold::engine::process_environment).launcher) {
    std::fputs("this program is started by mpirun or mpiexec\n", stderr);
    return 2;
  }
  try {
    return fourhold::engine::run_caught(argv[1], argc > 2 ? std::atoi(argv[2]) : 0);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 3;
  }
}

// Random collectives that every rank makes from one seed, whatever carries the messages. Each
// result is compared, bit by bit, with what one rank computes alone from the data of all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/communicator/communicator.h"

namespace fourhold::engine {

struct SuiteOptions {
  std::uint64_t seed = 1;
  int cases = 100;
  int threads = 1;
  // Also tensors of many chunks, which take a second each.
  bool long_tensors = false;
};

struct SuiteReport {
  std::vector<std::string> faults;  // of this rank, one for each case that went wrong
  std::uint64_t digest = 0;         // of all results of all ranks; the same on all
  Traffic traffic;                  // of this rank, whatever the suite sent
};

[[nodiscard]] SuiteReport run_suite(Communicator& communicator, const SuiteOptions& options);

}  // namespace fourhold::engine

#include "fourhold/engine/communicator/rank_faults.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>

namespace fourhold::engine {

Failure no_answer(std::vector<int> missing, int rank, Seconds timeout) {
  assert(!missing.empty() && "somebody is waited for");
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  std::string seconds = std::to_string(timeout.value);  // "60.000000"
  seconds.erase(seconds.find_last_not_of('0') + 1);
  if (seconds.back() == '.') seconds.pop_back();
  std::string reason = "has not answered rank " + std::to_string(rank) + " for " + seconds + " s";
  for (std::size_t i = 1; i < missing.size(); ++i) {
    const char* before = i > 1                 ? ", "
                         : missing.size() == 2 ? "; nor has rank "
                                               : "; nor have ranks ";
    reason += before + std::to_string(missing[i]);
  }
  return {.rank = missing.front(), .reason = reason, .found_by = rank};
}

Error wrong_size(int rank, int peer, std::size_t sent_bytes, std::size_t expected_bytes) {
  return {"rank " + std::to_string(rank),
          "rank " + std::to_string(peer) + " sent " + std::to_string(sent_bytes) + " bytes where " +
              std::to_string(expected_bytes) + " were expected",
          "this is a fault of the program: the ranks do not run the same plan",
          ExitCode::internal_error};
}

}  // namespace fourhold::engine

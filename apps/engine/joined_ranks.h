// This process as one of the ranks that a launcher started.
#pragma once

#include <functional>
#include <memory>

#include "fourhold/base/error.h"
#include "fourhold/base/units.h"
#include "fourhold/engine/communicator/communicator.h"
#include "fourhold/engine/communicator/mpi_communicator.h"
#include "fourhold/engine/executor/rank_groups.h"
#include "fourhold/engine/launch/rank_checks.h"

namespace fourhold::engine_app {

class JoinedRanks {
 public:
  // Meets the other ranks where a launcher started several; else this process is the only one. A
  // rank that has not answered for `timeout` is given up. Throws Error where srun gave them no way
  // to meet.
  explicit JoinedRanks(Seconds timeout = engine::MpiOptions{}.timeout);

  [[nodiscard]] engine::OwnRank own() const {
    return {communicator_ ? communicator_->rank() : 0, communicator_.get()};
  }
  // The one that prints.
  [[nodiscard]] bool is_first() const { return own().rank == 0; }
  [[nodiscard]] std::int64_t size() const { return communicator_ ? communicator_->size() : 1; }
  // Where this rank stands, as the ranks that met know it: a launcher may promise ranks that its
  // messages never reach. The room in /dev/shm is what there was before they met.
  [[nodiscard]] const engine::RankPlace& place() const { return place_; }
  // Null where this process is the only one.
  [[nodiscard]] engine::Communicator* communicator() const { return communicator_.get(); }

  // Runs what every rank does. An Error on one of them ends all: the first rank prints it, with the
  // rank it is of, and every rank returns its exit code.
  [[nodiscard]] ExitCode run(const std::function<ExitCode()>& body);

 private:
  engine::RankPlace place_;
  std::unique_ptr<engine::Communicator> communicator_;
};

// In a handler of an Error about words that are the same on every rank, before they have met: now
// they meet, so that the first says it, once, before a launcher ends it for the exit of another.
// Throws it on where this process is alone.
[[nodiscard]] ExitCode refuse_on_all_ranks();

}  // namespace fourhold::engine_app

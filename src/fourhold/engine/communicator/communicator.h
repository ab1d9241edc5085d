// Messages between the ranks of one run. Collectives are made of these (collectives.h), so that
// every implementation adds the same numbers in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {

// A message on its way: what wait() takes. Bytes that are sent must stay as they are, and those
// that are received must not be touched, until wait() has returned.
struct Message {
  std::int64_t id = -1;
};

// Why a job ends on every rank.
struct Failure {
  int rank = -1;       // whose fault it is
  std::string reason;  // "killed by signal 9", "step 12: the loss is not finite"
  // Of the job. A rank that died or does not answer is no answer to the user's question: a job that
  // ends so may be started again.
  ExitCode exit_code = ExitCode::internal_error;
  int found_by = -1;  // that rank itself, or one that waited for it
};

// What wait() throws where the fault is another rank's.
class PeerFailure : public Error {
 public:
  // `place` names the rank, and its machine where that is known.
  PeerFailure(const std::string& place, const Failure& failure)
      : Error(place, failure.reason, "the job ended on every rank", failure.exit_code),
        rank_(failure.rank),
        found_by_(failure.found_by) {}
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int found_by() const noexcept { return found_by_; }

 private:
  int rank_;
  int found_by_;
};

// One rank's way to the others. Used by one thread.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // How messages travel: "MPI (Open MPI 4.1.4)", "threads of one process".
  [[nodiscard]] virtual std::string name() const = 0;
  // Ranks on the same machine as this one, ascending, itself among them.
  [[nodiscard]] virtual std::span<const int> node() const = 0;

  // Messages of one pair of ranks and one tag arrive in the order in which they were sent, each
  // with as many bytes as the receiver asks for. A rank may send to itself.
  virtual Message send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual Message receive(int from, int tag, std::span<std::byte> bytes) = 0;
  // Throws Error naming a rank that has failed, died or not answered for the time-out.
  virtual void wait(std::span<const Message> messages) = 0;
  // Lets messages under way get on where they do so only while this rank asks for it; returns at
  // once. Faults are left to the next wait().
  virtual void advance() = 0;
  // Lets go of all messages of this rank under way, as wait() does before it throws: nobody reads
  // or writes their bytes from here on. For a rank that fails; what it had promised never comes.
  virtual void withdraw() noexcept = 0;

  // Ends the job on every rank: all that wait, now or later, throw Error with this failure. The
  // first failure of a job counts.
  virtual void fail(const Failure& failure) = 0;
};

}  // namespace fourhold::engine

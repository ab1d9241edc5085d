// What the ranks of run_ranks() share: messages posted and not yet done, under one lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fourhold/base/units.h"
#include "fourhold/engine/communicator/communicator.h"

namespace fourhold::engine {

class ThreadWorld {
 public:
  ThreadWorld(int ranks, Seconds timeout);

  [[nodiscard]] std::span<const int> ranks() const { return ranks_; }

  Message send(int rank, int to, int tag, std::span<const std::byte> bytes);
  Message receive(int rank, int from, int tag, std::span<std::byte> bytes);
  void wait(int rank, std::span<const Message> messages);
  void withdraw(int rank) noexcept;
  void fail(const Failure& failure);

 private:
  enum class State : std::uint8_t {
    unused,
    posted,   // waits for its other side
    matched,  // has it: the receiver copies next
    copying,
    done,
    withdrawn,  // its other side has gone
  };
  struct Slot {
    State state = State::unused;
    bool receives = false;
    int peer = -1;
    int tag = 0;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t bytes = 0;
    std::size_t other = 0;  // slot of the peer, once matched
  };
  struct Rank {
    std::condition_variable changed;
    std::vector<Slot> slots;
    std::vector<std::size_t> unused;
    std::vector<std::size_t> posted;  // slots without another side, in the order of posting
  };
  using Lock = std::unique_lock<std::mutex>;

  Message post(int rank, Slot slot);
  void release(Rank& rank, std::size_t slot);
  void copy(Lock& lock, int rank, std::size_t slot);
  void let_go(Lock& lock, int rank);
  std::size_t get_on(Lock& lock, int rank, std::span<const Message> messages);
  [[nodiscard]] Failure unanswered(int rank, std::span<const Message> messages) const;
  void set_failure(const Failure& failure);
  [[nodiscard]] Rank& of(int rank) { return state_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Rank& of(int rank) const { return state_[static_cast<std::size_t>(rank)]; }

  std::vector<int> ranks_;
  std::chrono::duration<double> timeout_;
  std::mutex mutex_;
  std::vector<Rank> state_;
  std::optional<Failure> failure_;
};

}  // namespace fourhold::engine

#include "fourhold/engine/communicator/thread_communicator.h"

#include <cassert>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fourhold/engine/communicator/thread_world.h"

namespace fourhold::engine {
namespace {

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ThreadWorld& world, int rank) : world_(world), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_.ranks().size()); }
  std::string name() const override { return "threads of one process"; }
  std::span<const int> node() const override { return world_.ranks(); }
  Message send(int to, int tag, std::span<const std::byte> bytes) override {
    return world_.send(rank_, to, tag, bytes);
  }
  Message receive(int from, int tag, std::span<std::byte> bytes) override {
    return world_.receive(rank_, from, tag, bytes);
  }
  void wait(std::span<const Message> messages) override { world_.wait(rank_, messages); }
  void advance() override {}  // whoever waits for a message copies it
  void withdraw() noexcept override { world_.withdraw(rank_); }
  void fail(const Failure& failure) override { world_.fail(failure); }

 private:
  ThreadWorld& world_;
  int rank_;
};

// The first exception of any rank.
class FirstFault {
 public:
  explicit FirstFault(ThreadWorld& world) : world_(world) {}

  void catch_current(int rank) {
    const std::lock_guard lock(mutex_);
    if (fault_ != nullptr) return;
    fault_ = std::current_exception();
    world_.fail({.rank = rank, .reason = reason()});
  }
  void rethrow() const {
    if (fault_ != nullptr) std::rethrow_exception(fault_);
  }

 private:
  [[nodiscard]] std::string reason() const {
    try {
      std::rethrow_exception(fault_);
    } catch (const Error& error) {
      return error.where().empty() ? error.what() : error.where() + ": " + error.what();
    } catch (const std::exception& error) {
      return error.what();
    } catch (...) {
      return "ended by an exception of unknown type";
    }
  }

  ThreadWorld& world_;
  std::mutex mutex_;
  std::exception_ptr fault_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body, Seconds timeout) {
  assert(ranks >= 1 && "a run has a rank");
  ThreadWorld world(ranks, timeout);
  FirstFault first(world);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadCommunicator communicator(world, rank);
      try {
        body(communicator);
      } catch (...) {
        first.catch_current(rank);
      }
      communicator.withdraw();
    });
  }
  for (std::thread& thread : threads) thread.join();
  first.rethrow();
}

}  // namespace fourhold::engine

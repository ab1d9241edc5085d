#include "fourhold/engine/communicator/thread_world.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>
#include <string>

#include "fourhold/engine/communicator/rank_faults.h"

namespace fourhold::engine {

ThreadWorld::ThreadWorld(int ranks, Seconds timeout)
    : ranks_(static_cast<std::size_t>(ranks)),
      timeout_(timeout.value),
      state_(static_cast<std::size_t>(ranks)) {
  std::iota(ranks_.begin(), ranks_.end(), 0);
}

Message ThreadWorld::send(int rank, int to, int tag, std::span<const std::byte> bytes) {
  return post(rank, {.peer = to, .tag = tag, .from = bytes.data(), .bytes = bytes.size()});
}

Message ThreadWorld::receive(int rank, int from, int tag, std::span<std::byte> bytes) {
  return post(
      rank,
      {.receives = true, .peer = from, .tag = tag, .to = bytes.data(), .bytes = bytes.size()});
}

// Finds the other side or waits for it: the oldest of the peer's that means this rank and tag.
Message ThreadWorld::post(int rank, Slot slot) {
  assert(slot.peer >= 0 && slot.peer < static_cast<int>(ranks_.size()) && "the peer is a rank");
  const Lock lock(mutex_);
  Rank& own = of(rank);
  if (own.unused.empty()) {
    own.unused.push_back(own.slots.size());
    own.slots.emplace_back();
  }
  const std::size_t id = own.unused.back();
  own.unused.pop_back();

  Rank& peer = of(slot.peer);
  const auto other = std::find_if(peer.posted.begin(), peer.posted.end(), [&](std::size_t posted) {
    const Slot& there = peer.slots[posted];
    return there.peer == rank && there.tag == slot.tag && there.receives != slot.receives;
  });
  if (other == peer.posted.end()) {
    slot.state = State::posted;
    own.posted.push_back(id);
  } else {
    slot.state = State::matched;
    slot.other = *other;
    peer.slots[*other].state = State::matched;
    peer.slots[*other].other = id;
    peer.posted.erase(other);
    if (!slot.receives) peer.changed.notify_one();
  }
  own.slots[id] = slot;
  return {static_cast<std::int64_t>(id)};
}

void ThreadWorld::release(Rank& rank, std::size_t slot) {
  rank.slots[slot].state = State::unused;
  rank.unused.push_back(slot);
}

// The bytes are copied outside the lock. Both ranks hold still meanwhile: this one is here, and the
// sender's let_go() waits.
void ThreadWorld::copy(Lock& lock, int rank, std::size_t slot) {
  const Slot own = of(rank).slots[slot];
  Slot& sent = of(own.peer).slots[own.other];
  if (sent.bytes != own.bytes) {
    const Error error = wrong_size(rank, own.peer, sent.bytes, own.bytes);
    let_go(lock, rank);
    throw error;
  }
  const std::byte* from = sent.from;
  sent.state = State::copying;
  of(rank).slots[slot].state = State::copying;
  lock.unlock();
  if (own.bytes != 0) std::memcpy(own.to, from, own.bytes);
  lock.lock();
  of(rank).slots[slot].state = State::done;
  of(own.peer).slots[own.other].state = State::done;
  of(own.peer).changed.notify_one();
}

// Copies what has come; the number of messages that are not done yet.
std::size_t ThreadWorld::get_on(Lock& lock, int rank, std::span<const Message> messages) {
  std::size_t rest = 0;
  for (const Message& message : messages) {
    if (message.id < 0) continue;
    const auto slot = static_cast<std::size_t>(message.id);
    const Slot& own = of(rank).slots[slot];
    assert(own.state != State::unused && "a message is waited for once");
    if (own.receives && own.state == State::matched) copy(lock, rank, slot);
    if (of(rank).slots[slot].state != State::done) ++rest;
  }
  return rest;
}

Failure ThreadWorld::unanswered(int rank, std::span<const Message> messages) const {
  std::vector<int> missing;
  for (const Message& message : messages) {
    if (message.id < 0) continue;
    const Slot& slot = of(rank).slots[static_cast<std::size_t>(message.id)];
    if (slot.state != State::done) missing.push_back(slot.peer);
  }
  return no_answer(missing, rank, {timeout_.count()});
}

void ThreadWorld::wait(int rank, std::span<const Message> messages) {
  Lock lock(mutex_);
  Rank& own = of(rank);
  std::size_t rest = messages.size() + 1;
  const auto in_time = [this] {
    return std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(timeout_);
  };
  auto deadline = in_time();
  while (true) {
    if (failure_.has_value()) {
      let_go(lock, rank);
      throw PeerFailure("rank " + std::to_string(failure_->rank), *failure_);
    }
    const std::size_t left = get_on(lock, rank, messages);
    if (left == 0) break;
    // Copying let go of the lock: something may have come meanwhile.
    if (left < rest) {
      rest = left;
      deadline = in_time();
    } else if (own.changed.wait_until(lock, deadline) == std::cv_status::timeout &&
               get_on(lock, rank, messages) == rest && !failure_.has_value()) {
      set_failure(unanswered(rank, messages));
    }
  }
  for (const Message& message : messages) {
    if (message.id >= 0) release(own, static_cast<std::size_t>(message.id));
  }
}

void ThreadWorld::let_go(Lock& lock, int rank) {
  Rank& own = of(rank);
  own.posted.clear();
  for (std::size_t id = 0; id < own.slots.size(); ++id) {
    own.changed.wait(lock, [&] { return own.slots[id].state != State::copying; });
    const Slot& slot = own.slots[id];
    if (slot.state == State::unused) continue;
    if (slot.state == State::matched) of(slot.peer).slots[slot.other].state = State::withdrawn;
    release(own, id);
  }
}

void ThreadWorld::withdraw(int rank) noexcept {
  Lock lock(mutex_);
  let_go(lock, rank);
}

void ThreadWorld::set_failure(const Failure& failure) {
  if (failure_.has_value()) return;
  failure_ = failure;
  for (Rank& rank : state_) rank.changed.notify_all();
}

void ThreadWorld::fail(const Failure& failure) {
  const Lock lock(mutex_);
  set_failure(failure);
}

}  // namespace fourhold::engine

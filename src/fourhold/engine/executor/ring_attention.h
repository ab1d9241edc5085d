// Attention over the ranks of a context-parallel group: keys and values pass round, each member
// works on those of one member after another while the next are under way (Liu 2023,
// arXiv 2310.01889, sec. 3). In step s a member works on the keys of the member s places before it.
//
// In backward the gradients of keys go straight home: what a member has made for another's keys is
// sent to that one while the next are made, and the owner adds what it is sent to its own fp32
// sums, in the order of steps whatever arrives first, and rounds once. So a member sends k and v n
// - 1 times and dk and dv n - 1 times, what a ring of both would send.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/execution.h"

namespace fourhold::engine {

// The members, and who exchanges with whom in each step. Made once: a step allocates nothing.
class ContextRing {
 public:
  explicit ContextRing(const Group& members);

  [[nodiscard]] int size() const { return steps_.empty() ? 1 : steps_[0].size(); }
  [[nodiscard]] int place() const { return place_; }
  // Whose keys this rank works on in a step, step 0 its own.
  [[nodiscard]] int owner(int step) const { return (place_ + size() - step) % size(); }
  // Keys go to the next member and come from the one before.
  [[nodiscard]] const Group& passing() const { return steps_[0]; }
  // The ring whose next member is the owner of step `step` >= 1, and whose one before works on
  // this rank's keys then: every `step`-th member, backwards.
  [[nodiscard]] const Group& home(int step) const { return steps_[static_cast<std::size_t>(step)]; }

 private:
  int place_;
  std::vector<Group> steps_;  // passing, then home of every step
};

// As attention() and attention_backward() over whole sequences. Rows are those of this rank
// (shared_positions), shape.seq its tokens of one sequence; a ring of one is these kernels alone.
// `scratch` has plan::RingForwardScratch or RingBackwardScratch bytes, 64-byte aligned.
void ring_attention(const AttentionForward& call, const ContextRing& ring, Collectives& collectives,
                    std::span<std::byte> scratch, const Execution& execution);
void ring_attention_backward(const AttentionBackward& call, const ContextRing& ring,
                             Collectives& collectives, std::span<std::byte> scratch,
                             const Execution& execution);

}  // namespace fourhold::engine

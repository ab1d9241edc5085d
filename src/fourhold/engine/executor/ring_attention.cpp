#include "fourhold/engine/executor/ring_attention.h"

#include <cassert>
#include <cstring>

#include "fourhold/engine/kernels/elementwise.h"
#include "fourhold/engine/kernels/partial_attention.h"
#include "fourhold/plan/ring_scratch.h"

namespace fourhold::engine {
namespace {

plan::RingSizes sizes_of(const AttentionShape& shape, const Tensor& k, const Tensor& v,
                         const ContextRing& ring, const Execution& execution) {
  return {.members = ring.size(),
          .queries = {.sequences = shape.sequences,
                      .heads = shape.heads,
                      .pieces = 2,
                      .piece_tokens = shape.seq / 2,
                      .head_dim = shape.head_dim},
          .key_value_elements = k.elements() + v.elements(),
          .dtype = k.dtype,
          .threads = execution.threads};
}

// Two tensors of the form of k and v, one behind the other: what one message holds.
struct Pair {
  Tensor k, v;

  Pair(std::byte* at, const Tensor& k_form, const Tensor& v_form, DType dtype)
      : k{at, dtype, k_form.dims}, v{at + k.bytes(), dtype, v_form.dims} {}
  [[nodiscard]] std::span<std::byte> bytes() const {
    return {k.data, static_cast<std::size_t>(k.bytes() + v.bytes())};
  }
};

// What a step works on.
PartialAttentionShape shape_of_step(const AttentionShape& shape, const ContextRing& ring,
                                    int step) {
  const std::int64_t seq = shape.seq * ring.size();
  const auto positions = [&](int member) {
    return shared_positions(shape.sequences, seq, ring.size(), member);
  };
  return {.queries = positions(ring.place()),
          .keys = positions(ring.owner(step)),
          .heads = shape.heads,
          .kv_heads = shape.kv_heads,
          .head_dim = shape.head_dim,
          .window = shape.window,
          .scale = shape.scale};
}

// k and v on their way round.
class Passing {
 public:
  Passing(const ContextRing& ring, Collectives& collectives, const Pair& one, const Pair& other,
          const Tensor& k, const Tensor& v)
      : ring_(ring), collectives_(collectives), here_(one), next_(other) {
    // One message holds both.
    std::memcpy(here_.k.data, k.data, static_cast<std::size_t>(k.bytes()));
    std::memcpy(here_.v.data, v.data, static_cast<std::size_t>(v.bytes()));
  }

  // Those of the step's owner.
  [[nodiscard]] const Pair& here() const { return here_; }
  // Sends them on, and lets those of the next step come.
  void start(int step) {
    if (step + 1 < ring_.size()) {
      collectives_.start_ring(ring_.passing(), here_.bytes(), next_.bytes());
    }
  }
  // Once all exchanges are finished.
  void advance() { std::swap(here_, next_); }

 private:
  const ContextRing& ring_;
  Collectives& collectives_;
  Pair here_;
  Pair next_;
};

}  // namespace

ContextRing::ContextRing(const Group& members) : place_(members.place) {
  const int count = members.size();
  if (count == 1) return;
  steps_.push_back(members);
  for (int step = 1; step < count; ++step) {
    Group home;
    int member = place_;
    do {
      home.ranks.push_back(members.ranks[static_cast<std::size_t>(member)]);
      member = (member + count - step) % count;
    } while (member != place_);
    steps_.push_back(home);
  }
}

void ring_attention(const AttentionForward& call, const ContextRing& ring, Collectives& collectives,
                    std::span<std::byte> scratch, const Execution& execution) {
  if (ring.size() == 1) return attention(call, scratch, execution);
  const plan::RingSizes sizes = sizes_of(call.shape, call.k, call.v, ring, execution);
  const plan::RingForwardScratch parts(sizes);
  assert(static_cast<std::int64_t>(scratch.size()) >= parts.bytes &&
         "scratch is what the rule says");
  const std::span<std::byte> kernel =
      scratch.subspan(static_cast<std::size_t>(parts.kernel), static_cast<std::size_t>(parts.seen));
  const std::span<std::byte> seen =
      scratch.subspan(static_cast<std::size_t>(parts.seen),
                      static_cast<std::size_t>(parts.passing[0] - parts.seen));
  const auto pair = [&](std::int64_t at) {
    return Pair(scratch.data() + at, call.k, call.v, call.k.dtype);
  };
  Passing passing(ring, collectives, pair(parts.passing[0]), pair(parts.passing[1]), call.k,
                  call.v);
  for (int step = 0; step < ring.size(); ++step) {
    passing.start(step);
    attend_to_part({.shape = shape_of_step(call.shape, ring, step),
                    .q = call.q,
                    .k = passing.here().k,
                    .v = call.out.data == nullptr ? Tensor{} : passing.here().v,
                    .seen = seen},
                   step == 0 ? Visit::first : Visit::later, kernel, execution);
    collectives.finish_ring();
    passing.advance();
  }
  finish_attention({shape_of_step(call.shape, ring, 0), seen, call.out, call.log_sum_exp}, kernel,
                   execution);
}

void ring_attention_backward(const AttentionBackward& call, const ContextRing& ring,
                             Collectives& collectives, std::span<std::byte> scratch,
                             const Execution& execution) {
  if (ring.size() == 1) return attention_backward(call, scratch, execution);
  const plan::RingSizes sizes = sizes_of(call.shape, call.k, call.v, ring, execution);
  const plan::RingBackwardScratch parts(sizes);
  assert(static_cast<std::int64_t>(scratch.size()) >= parts.bytes &&
         "scratch is what the rule says");
  const std::span<std::byte> kernel = scratch.subspan(static_cast<std::size_t>(parts.kernel),
                                                      static_cast<std::size_t>(parts.dq_seen));
  const std::span<std::byte> dq_seen =
      scratch.subspan(static_cast<std::size_t>(parts.dq_seen),
                      static_cast<std::size_t>(parts.sums - parts.dq_seen));
  const auto pair = [&](std::int64_t at) {
    return Pair(scratch.data() + at, call.k, call.v, call.k.dtype);
  };
  const Pair sums(scratch.data() + parts.sums, call.k, call.v, DType::fp32);
  const Pair leaving[] = {pair(parts.leaving[0]), pair(parts.leaving[1])};
  const Pair arriving = pair(parts.arriving);
  const auto add_arrived = [&] {
    accumulate(arriving.k, sums.k, execution);
    accumulate(arriving.v, sums.v, execution);
  };
  Passing passing(ring, collectives, pair(parts.passing[0]), pair(parts.passing[1]), call.k,
                  call.v);
  for (int step = 0; step < ring.size(); ++step) {
    passing.start(step);
    const Pair& made = step == 0 ? sums : leaving[step % 2];
    attend_to_part_backward({.shape = shape_of_step(call.shape, ring, step),
                             .q = call.q,
                             .k = passing.here().k,
                             .v = passing.here().v,
                             .out = call.out,
                             .log_sum_exp = call.log_sum_exp,
                             .dout = call.dout,
                             .row_sums = call.row_sums,
                             .dq_seen = dq_seen,
                             .dk = made.k,
                             .dv = made.v},
                            step == 0 ? Visit::first : Visit::later, kernel, execution);
    collectives.finish_ring();
    passing.advance();
    if (step == 0) continue;
    if (step > 1) add_arrived();
    collectives.join_ring(ring.home(step), made.bytes(), arriving.bytes());
  }
  collectives.finish_ring();
  add_arrived();
  finish_query_gradient({shape_of_step(call.shape, ring, 0), dq_seen, call.dq}, kernel, execution);
  cast(sums.k, call.dk, execution);
  cast(sums.v, call.dv, execution);
}

}  // namespace fourhold::engine

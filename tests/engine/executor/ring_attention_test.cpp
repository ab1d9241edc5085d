#include "fourhold/engine/executor/ring_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "fourhold/engine/communicator/thread_communicator.h"
#include "fourhold/engine/kernels/positions.h"
#include "fourhold/plan/ring_scratch.h"
#include "fourhold/predict/collectives.h"
#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::span<std::byte> bytes(Values& scratch) {
  const Tensor tensor = scratch.tensor();
  return {tensor.data, at(tensor.bytes())};
}

// Operands and results over whole sequences, or over the rows of one rank.
struct Operands {
  Values q, k, v, dout;
  Values out, log_sum_exp, row_sums, dq, dk, dv;

  Operands(const AttentionShape& shape, DType dtype)
      : q(random_values(dtype, q_dims(shape), 1)),
        k(random_values(dtype, kv_dims(shape), 2)),
        v(random_values(dtype, kv_dims(shape), 3)),
        dout(random_values(dtype, q_dims(shape), 4)),
        out(dtype, q_dims(shape)),
        log_sum_exp(DType::fp32, Dims{shape.sequences * shape.seq, shape.heads}),
        row_sums(log_sum_exp),
        dq(q),
        dk(k),
        dv(v) {}

  static Dims q_dims(const AttentionShape& shape) {
    return {shape.sequences * shape.seq, shape.heads, shape.head_dim};
  }
  static Dims kv_dims(const AttentionShape& shape) {
    return {shape.sequences * shape.seq, shape.kv_heads, shape.head_dim};
  }
  AttentionForward forward(const AttentionShape& shape) {
    return {shape, q.tensor(), k.tensor(), v.tensor(), out.tensor(), log_sum_exp.tensor()};
  }
  AttentionBackward backward(const AttentionShape& shape) {
    return {shape,        q.tensor(),           k.tensor(),    v.tensor(),
            out.tensor(), log_sum_exp.tensor(), dout.tensor(), row_sums.tensor(),
            dq.tensor(),  dk.tensor(),          dv.tensor()};
  }
};

Operands on_one_rank(const AttentionShape& shape, Operands operands) {
  Values scratch(DType::fp32,
                 Dims{plan::attention_backward_scratch_bytes(shape.seq, shape.head_dim, 1) / 4});
  attention(operands.forward(shape), bytes(scratch), {1, Isa::portable});
  attention_backward(operands.backward(shape), bytes(scratch), {1, Isa::portable});
  return operands;
}

// Copies the rows that a rank has of whole sequences, to it or back.
enum class Way : std::uint8_t { to_rank, to_whole };
void copy_rows(Way way, const Positions& rows, std::int64_t seq, Values& whole, Values& part) {
  const std::int64_t width = part.size() / rows.rows();
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const std::int64_t whole_row = row / rows.tokens * seq + rows.of(row % rows.tokens);
    for (std::int64_t i = 0; i < width; ++i) {
      if (way == Way::to_rank) {
        part.set(row * width + i, whole[whole_row * width + i]);
      } else {
        whole.set(whole_row * width + i, part[row * width + i]);
      }
    }
  }
}

struct RingRun {
  Operands whole;
  std::vector<Traffic> after_forward, after_backward;

  // Ranks pause before they begin, the last or the first for longest.
  enum class Late : std::uint8_t { nobody, last, first };

  RingRun(const AttentionShape& shape, Operands operands, int members, const Execution& execution,
          Late late = Late::nobody)
      : whole(std::move(operands)), after_forward(at(members)), after_backward(at(members)) {
    std::vector<Operands> parts;
    AttentionShape own = shape;
    own.seq = shape.seq / members;
    const auto rows = [&](int place) {
      return shared_positions(shape.sequences, shape.seq, members, place);
    };
    for (int place = 0; place < members; ++place) {
      Operands& part = parts.emplace_back(own, whole.q.dtype());
      copy_rows(Way::to_rank, rows(place), shape.seq, whole.q, part.q);
      copy_rows(Way::to_rank, rows(place), shape.seq, whole.k, part.k);
      copy_rows(Way::to_rank, rows(place), shape.seq, whole.v, part.v);
      copy_rows(Way::to_rank, rows(place), shape.seq, whole.dout, part.dout);
    }
    run_ranks(members, [&](Communicator& communicator) {
      const int place = communicator.rank();
      const int pause = late == Late::last ? place : members - 1 - place;
      if (late != Late::nobody) std::this_thread::sleep_for(std::chrono::milliseconds(2 * pause));
      run(communicator, own, execution, parts[at(place)]);
    });
    for (int place = 0; place < members; ++place) {
      Operands& part = parts[at(place)];
      copy_rows(Way::to_whole, rows(place), shape.seq, whole.out, part.out);
      copy_rows(Way::to_whole, rows(place), shape.seq, whole.log_sum_exp, part.log_sum_exp);
      copy_rows(Way::to_whole, rows(place), shape.seq, whole.dq, part.dq);
      copy_rows(Way::to_whole, rows(place), shape.seq, whole.dk, part.dk);
      copy_rows(Way::to_whole, rows(place), shape.seq, whole.dv, part.dv);
    }
  }

 private:
  void run(Communicator& communicator, const AttentionShape& own, const Execution& execution,
           Operands& part) {
    Group members;
    for (int rank = 0; rank < communicator.size(); ++rank) members.ranks.push_back(rank);
    members.place = communicator.rank();
    const ContextRing ring(members);
    Collectives collectives(communicator, {}, 1);
    const plan::RingSizes sizes{.members = ring.size(),
                                .queries = {.sequences = own.sequences,
                                            .heads = own.heads,
                                            .pieces = 2,
                                            .piece_tokens = own.seq / 2,
                                            .head_dim = own.head_dim},
                                .key_value_elements = part.k.size() + part.v.size(),
                                .dtype = part.k.dtype(),
                                .threads = execution.threads};
    const bool alone = ring.size() == 1;
    Values forward_scratch(DType::fp32, Dims{plan::RingForwardScratch(sizes).bytes / 4});
    ring_attention(part.forward(own), ring, collectives, bytes(forward_scratch), execution);
    after_forward[at(ring.place())] = collectives.traffic();
    Values scratch(DType::fp32, Dims{(alone ? plan::attention_backward_scratch_bytes(
                                                  own.seq, own.head_dim, execution.threads)
                                            : plan::RingBackwardScratch(sizes).bytes) /
                                     4});
    ring_attention_backward(part.backward(own), ring, collectives, bytes(scratch), execution);
    after_backward[at(ring.place())] = collectives.traffic();
  }
};

AttentionShape shape_of(std::int64_t seq, std::int64_t window) {
  return {.sequences = 2,
          .seq = seq,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 20,
          .window = window,
          .scale = static_cast<float>(1 / std::sqrt(20.0))};
}

double largest_of(const Values& values) {
  double most = 0;
  for (const double value : values.doubles()) most = std::max(most, std::abs(value));
  return most;
}

double error_of(const Values& found, const Values& expected) {
  double most = 0;
  for (std::int64_t i = 0; i < found.size(); ++i) {
    if (!(std::abs(found[i] - expected[i]) <= most)) most = std::abs(found[i] - expected[i]);
  }
  return most;
}

// The results of both, in one order.
template <class Compare>
void compare_results(const Operands& a, const Operands& b, const Compare& compare) {
  compare("out", a.out, b.out);
  compare("log_sum_exp", a.log_sum_exp, b.log_sum_exp);
  compare("dq", a.dq, b.dq);
  compare("dk", a.dk, b.dk);
  compare("dv", a.dv, b.dv);
}

TEST(RingAttention, EqualsOneRankInFp32) {
  for (const int members : {1, 2, 3, 4}) {
    for (const std::int64_t window : {0, 9, 130}) {
      for (const std::int64_t piece : {5, 33}) {
        SCOPED_TRACE(::testing::Message()
                     << members << " members, window " << window << ", pieces of " << piece);
        const AttentionShape shape = shape_of(2 * members * piece, window);
        const Operands operands(shape, DType::fp32);
        const RingRun ring(shape, operands, members, {1, Isa::portable});
        compare_results(ring.whole, on_one_rank(shape, operands),
                        [](const char* name, const Values& found, const Values& expected) {
                          EXPECT_LE(error_of(found, expected), 1e-5 * largest_of(expected)) << name;
                        });
      }
    }
  }
}

// Against fp32 on the same numbers the ring errs by what one rank errs, and by the rounding of what
// each member sends.
TEST(RingAttention, EqualsOneRankInBf16WithinRounding) {
  for (const int members : {2, 3, 4}) {
    for (const std::int64_t window : {0, 50}) {
      SCOPED_TRACE(::testing::Message() << members << " members, window " << window);
      const AttentionShape shape = shape_of(2 * members * 33, window);
      const Operands operands(shape, DType::bf16);
      Operands wide(shape, DType::fp32);
      const auto widen = [](const Values& from, Values& to) {
        for (std::int64_t i = 0; i < from.size(); ++i) to.set(i, from[i]);
      };
      widen(operands.q, wide.q);
      widen(operands.k, wide.k);
      widen(operands.v, wide.v);
      widen(operands.dout, wide.dout);
      const Operands exact = on_one_rank(shape, wide);
      std::vector<double> allowed;
      compare_results(on_one_rank(shape, operands), exact,
                      [&](const char*, const Values& found, const Values& expected) {
                        allowed.push_back(error_of(found, expected) +
                                          rounding_of(DType::bf16) * largest_of(expected));
                      });
      const RingRun ring(shape, operands, members, {1, Isa::portable});
      std::size_t next = 0;
      compare_results(ring.whole, exact,
                      [&](const char* name, const Values& found, const Values& expected) {
                        EXPECT_LE(error_of(found, expected), allowed[next++]) << name;
                      });
    }
  }
}

TEST(RingAttention, BitsDependOnNeitherThreadsNorWhoIsLate) {
  for (const DType dtype : kComputeTypes) {
    for (const int members : {2, 3, 4}) {
      const AttentionShape shape = shape_of(2 * members * 35, 100);
      const Operands operands(shape, dtype);
      const RingRun one(shape, operands, members, {1, Isa::portable});
      const RingRun last(shape, operands, members, {1, Isa::portable}, RingRun::Late::last);
      const RingRun first(shape, operands, members, {3, Isa::portable}, RingRun::Late::first);
      for (const RingRun* other : {&last, &first}) {
        compare_results(one.whole, other->whole,
                        [](const char* name, const Values& a, const Values& b) {
                          EXPECT_TRUE(a == b) << name;
                        });
      }
    }
  }
}

// Forward k and v, backward these and their gradients, each n - 1 times.
TEST(RingAttention, SendsTheBytesThatArePredicted) {
  for (const DType dtype : kComputeTypes) {
    for (const int members : {1, 2, 3, 4}) {
      const AttentionShape shape = shape_of(2 * members * 7, 0);
      const RingRun ring(shape, Operands(shape, dtype), members, {1, Isa::portable});
      // 2 sequences of 14 tokens, 2 kv heads of 20 columns.
      const auto payload = static_cast<double>(2 * bytes_of(2 * 14 * 2 * 20, dtype));
      const auto predicted = [&](double bytes) {
        return predict::collective_cost(plan::Collective::ring, bytes, members);
      };
      for (int place = 0; place < members; ++place) {
        Traffic forward = ring.after_forward[at(place)];
        Traffic backward = ring.after_backward[at(place)];
        const Traffic::Count sent = forward.of(plan::Collective::ring);
        const Traffic::Count both = backward.of(plan::Collective::ring);
        EXPECT_EQ(static_cast<double>(sent.bytes), predicted(payload).wire_bytes);
        EXPECT_EQ(static_cast<double>(both.bytes - sent.bytes), predicted(2 * payload).wire_bytes);
        EXPECT_EQ(sent.steps, predicted(payload).steps);
        EXPECT_EQ(both.steps - sent.steps, predicted(2 * payload).steps);
        EXPECT_EQ(backward.bytes(), backward.of(plan::Collective::ring).bytes);
      }
    }
  }
}

// In step s of four, rank 2 of the world, second of the members, works for the one s places before.
TEST(ContextRing, SendsGradientsToTheOwnerOfTheKeys) {
  const ContextRing ring(Group{{0, 2, 4, 6}, 1});
  EXPECT_EQ(ring.size(), 4);
  const int owners[] = {2, 0, 6, 4};
  const std::vector<int> homes[] = {{}, {2, 0, 6, 4}, {2, 6}, {2, 4, 6, 0}};
  for (int step = 1; step < 4; ++step) {
    EXPECT_EQ(ring.home(step).ranks, homes[step]);
    EXPECT_EQ(ring.home(step).place, 0);
    EXPECT_EQ(2 * ring.owner(step), owners[step]);
    EXPECT_EQ(ring.home(step).ranks[1], owners[step]);
  }
  EXPECT_EQ(ring.passing().ranks, (std::vector<int>{0, 2, 4, 6}));
  EXPECT_EQ(ContextRing(Group{{3}, 0}).size(), 1);
}

}  // namespace
}  // namespace fourhold::engine

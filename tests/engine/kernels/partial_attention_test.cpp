#include "fourhold/engine/kernels/partial_attention.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/engine/kernels/positioned_attention.h"
#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::span<std::byte> bytes(Values& scratch) {
  const Tensor tensor = scratch.tensor();
  return {tensor.data, at(tensor.bytes())};
}

Values floats(std::int64_t count_bytes) { return {DType::fp32, Dims{count_bytes / 4}}; }

// Queries that visit the parts of the keys in the order given.
struct PartialRun {
  PartialAttentionShape shape;
  std::vector<Positions> parts;
  Values q, dout, out, log_sum_exp, row_sums, dq;
  std::vector<Values> k, v, dk, dv;

  PartialRun(const PartialAttentionShape& heads, std::vector<Positions> key_parts, DType dtype,
             DType gradient, const Execution& execution)
      : shape(heads),
        parts(std::move(key_parts)),
        q(random_values(dtype, q_dims(), 1)),
        dout(random_values(dtype, q_dims(), 2)),
        out(dtype, q_dims()),
        log_sum_exp(DType::fp32, Dims{shape.queries.rows(), shape.heads}),
        row_sums(log_sum_exp),
        dq(dtype, q_dims()) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Dims dims{parts[i].rows(), shape.kv_heads, shape.head_dim};
      k.push_back(random_values(dtype, dims, 10 + static_cast<unsigned>(i)));
      v.push_back(random_values(dtype, dims, 50 + static_cast<unsigned>(i)));
      dk.emplace_back(gradient, dims);
      dv.emplace_back(gradient, dims);
    }
    forward(execution);
    backward(execution);
  }

  void forward(const Execution& execution) {
    Values seen = floats(plan::partial_attention_bytes(sizes()));
    Values scratch =
        floats(plan::attention_forward_scratch_bytes(shape.head_dim, execution.threads));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      attend_to_part({of_part(i), q.tensor(), k[i].tensor(), v[i].tensor(), bytes(seen)},
                     i == 0 ? Visit::first : Visit::later, bytes(scratch), execution);
    }
    finish_attention({shape, bytes(seen), out.tensor(), log_sum_exp.tensor()}, bytes(scratch),
                     execution);
  }

  void backward(const Execution& execution) {
    Values dq_seen = floats(plan::partial_gradient_bytes(sizes()));
    std::int64_t most_tokens = 0;
    for (const Positions& part : parts) {
      most_tokens =
          std::max(most_tokens, plan::partial_attention_tokens(part.pieces, part.piece_tokens()));
    }
    Values scratch = floats(
        plan::attention_backward_scratch_bytes(most_tokens, shape.head_dim, execution.threads));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      attend_to_part_backward(
          {of_part(i), q.tensor(), k[i].tensor(), v[i].tensor(), out.tensor(), log_sum_exp.tensor(),
           dout.tensor(), row_sums.tensor(), bytes(dq_seen), dk[i].tensor(), dv[i].tensor()},
          i == 0 ? Visit::first : Visit::later, bytes(scratch), execution);
    }
    finish_query_gradient({shape, bytes(dq_seen), dq.tensor()}, bytes(scratch), execution);
  }

  [[nodiscard]] PartialAttentionShape of_part(std::size_t i) const {
    PartialAttentionShape part = shape;
    part.keys = parts[i];
    return part;
  }
  [[nodiscard]] Dims q_dims() const { return {shape.queries.rows(), shape.heads, shape.head_dim}; }
  [[nodiscard]] plan::PartialAttentionSizes sizes() const {
    return {shape.queries.sequences, shape.heads, shape.queries.pieces,
            shape.queries.piece_tokens(), shape.head_dim};
  }
  // The definition over the keys of all parts, one after another.
  [[nodiscard]] PositionedAttention definition() const {
    PositionedAttention::Operands all{q.doubles(), {}, {}, dout.doubles(), places_of(shape.queries),
                                      {}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(all.k, k[i].doubles());
      append(all.v, v[i].doubles());
      append(all.keys, places_of(parts[i]));
    }
    return {shape, all};
  }
};

PartialAttentionShape heads_of(const Positions& queries, std::int64_t heads, std::int64_t kv_heads,
                               std::int64_t head_dim, std::int64_t window) {
  return {.queries = queries,
          .keys = {},
          .heads = heads,
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .window = window,
          .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim)))};
}

// Tolerances as for attention over all keys at once (attention_test.cpp).
void expect_matches(const PartialRun& run) {
  const PartialAttentionShape& shape = run.shape;
  const PositionedAttention expected = run.definition();
  const double rounding = rounding_of(run.q.dtype());
  expect_near(run.log_sum_exp, expected.log_sum_exp, 1e-6, 4e-6);
  expect_near(run.out, expected.out, rounding, 2e-5);
  const double group = static_cast<double>(shape.heads) / static_cast<double>(shape.kv_heads);
  const double spread = static_cast<double>(shape.scale) * 16 * rounding *
                        std::sqrt(static_cast<double>(shape.head_dim));
  expect_near(run.dq, expected.dq, rounding, spread + 5e-5);
  const double keys = std::sqrt(static_cast<double>(shape.queries.tokens)) * group;
  std::int64_t first = 0;
  const auto part_of = [&](const std::vector<double>& all, const Values& part) {
    return std::vector<double>(all.begin() + first, all.begin() + first + part.size());
  };
  for (std::size_t i = 0; i < run.parts.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(run.dk[i], part_of(expected.dk, run.dk[i]), rounding, spread * keys + 1e-4 * group);
    expect_near(run.dv[i], part_of(expected.dv, run.dv[i]), rounding, 3e-5 * group);
    first += run.dk[i].size();
  }
}

// What the ranks of a group of `members` hold of sequences of `seq` tokens, from `place` back.
std::vector<Positions> ring_parts(std::int64_t sequences, std::int64_t seq, std::int64_t members,
                                  std::int64_t place) {
  std::vector<Positions> parts;
  for (std::int64_t step = 0; step < members; ++step) {
    parts.push_back(shared_positions(sequences, seq, members, (place + members - step) % members));
  }
  return parts;
}

// 12 tokens over three ranks are six pieces of two; rank 1 has the second and the last but one.
TEST(Positions, OfContextRanksAreOnePieceFromEachEnd) {
  const Positions positions = shared_positions(4, 12, 3, 1);
  EXPECT_EQ(positions.sequences, 4);
  EXPECT_EQ(positions.tokens, 4);
  EXPECT_EQ(positions.rows(), 16);
  const std::int64_t expected[] = {2, 3, 8, 9};
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(positions.of(i), expected[i]);
  const Positions whole = shared_positions(4, 7, 1, 0);
  EXPECT_EQ(whole.rows(), 28);
  EXPECT_EQ(whole.of(6), 6);
}

TEST(PartialAttention, OfAllPartsEqualsTheDefinition) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      for (const std::int64_t members : {2, 3}) {
        for (const std::int64_t piece : {1, 5, 67}) {
          for (const std::int64_t window : {0, 7, 90}) {
            for (std::int64_t place = 0; place < members; ++place) {
              SCOPED_TRACE(::testing::Message()
                           << "isa " << static_cast<int>(isa) << ' ' << to_string(dtype) << ' '
                           << members << " members, pieces of " << piece << ", window " << window
                           << ", place " << place);
              const std::int64_t seq = 2 * members * piece;
              expect_matches({heads_of(shared_positions(2, seq, members, place), 4, 2, 8, window),
                              ring_parts(2, seq, members, place),
                              dtype,
                              dtype,
                              {2, isa}});
            }
          }
        }
      }
    }
  }
}

// Keys that a query does not see come first, are fewer or more than the queries, and begin inside
// blocks; gradients of keys stay fp32.
TEST(PartialAttention, PartsMayComeInAnyOrderAndSize) {
  const Positions queries{.sequences = 2, .tokens = 70, .first = 100};
  const std::vector<Positions> parts{
      {.sequences = 2, .tokens = 33, .first = 137},
      {.sequences = 2, .tokens = 100, .first = 0},
      {.sequences = 2, .tokens = 74, .first = 100, .pieces = 2, .second = 170},
  };
  for (const Isa isa : isas()) {
    for (const std::int64_t window : {0, 40}) {
      expect_matches(
          {heads_of(queries, 3, 1, 17, window), parts, DType::bf16, DType::fp32, {1, isa}});
    }
  }
}

RC_GTEST_PROP(PartialAttention, EqualsTheDefinitionForAnyShape, ()) {
  const auto members = *rc::gen::inRange<std::int64_t>(2, 5);
  const auto piece = *rc::gen::inRange<std::int64_t>(1, 80);
  const auto place = *rc::gen::inRange<std::int64_t>(0, members);
  const auto kv_heads = *rc::gen::inRange<std::int64_t>(1, 3);
  const auto heads = kv_heads * *rc::gen::inRange<std::int64_t>(1, 3);
  const auto head_dim = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto window = *rc::gen::inRange<std::int64_t>(0, 200);
  const auto threads = *rc::gen::inRange(1, 4);
  const auto all = isas();
  const Isa isa = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  const DType dtype = *rc::gen::elementOf(std::vector{DType::fp32, DType::bf16});
  const std::int64_t seq = 2 * members * piece;
  expect_matches(
      {heads_of(shared_positions(1, seq, members, place), heads, kv_heads, head_dim, window),
       ring_parts(1, seq, members, place),
       dtype,
       dtype,
       {threads, isa}});
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(PartialAttention, BitsDoNotDependOnTheNumberOfThreads) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      const auto run = [&](int threads) {
        return PartialRun(heads_of(shared_positions(2, 6 * 70, 3, 1), 4, 2, 20, 150),
                          ring_parts(2, 6 * 70, 3, 1), dtype, dtype, {threads, isa});
      };
      const PartialRun one = run(1);
      for (const int threads : {2, 3}) {
        const PartialRun many = run(threads);
        EXPECT_EQ(one.out, many.out);
        EXPECT_EQ(one.log_sum_exp, many.log_sum_exp);
        EXPECT_EQ(one.row_sums, many.row_sums);
        EXPECT_EQ(one.dq, many.dq);
        EXPECT_EQ(one.dk, many.dk);
        EXPECT_EQ(one.dv, many.dv);
      }
    }
  }
}

// Keys behind all queries are left out, not multiplied by zero.
TEST(PartialAttention, PartsThatNobodySeesAreNotRead) {
  const PartialAttentionShape shape = heads_of({.tokens = 70, .first = 80}, 2, 1, 12, 60);
  for (const Isa isa : isas()) {
    PartialRun run(shape,
                   {{.tokens = 70, .first = 80}, {.tokens = 20}, {.tokens = 90, .first = 150}},
                   DType::fp32, DType::fp32, {1, isa});
    const Values out = run.out;
    const Values dq = run.dq;
    for (const std::size_t part : {1, 2}) {
      for (std::int64_t i = 0; i < run.k[part].size(); ++i) {
        run.k[part].set(i, std::numeric_limits<double>::quiet_NaN());
        run.v[part].set(i, std::numeric_limits<double>::quiet_NaN());
      }
    }
    run.forward({1, isa});
    run.backward({1, isa});
    EXPECT_EQ(run.out, out);
    EXPECT_EQ(run.dq, dq);
    for (const std::size_t part : {1, 2}) {
      for (std::int64_t i = 0; i < run.dk[part].size(); ++i) {
        ASSERT_EQ(run.dk[part][i], 0);
        ASSERT_EQ(run.dv[part][i], 0);
      }
    }
  }
}

TEST(PartialAttention, WithoutValuesGivesTheSameLogSums) {
  for (const Isa isa : isas()) {
    PartialRun run(heads_of(shared_positions(1, 260, 2, 1), 2, 1, 12, 0), ring_parts(1, 260, 2, 1),
                   DType::bf16, DType::bf16, {2, isa});
    const Values expected = run.log_sum_exp;
    Values seen = floats(plan::partial_attention_bytes(run.sizes()));
    Values scratch = floats(plan::attention_forward_scratch_bytes(12, 2));
    std::fill_n(run.log_sum_exp.tensor().as<float>().begin(), run.log_sum_exp.size(), 0.0F);
    for (std::size_t i = 0; i < 2; ++i) {
      attend_to_part({run.of_part(i), run.q.tensor(), run.k[i].tensor(), absent(), bytes(seen)},
                     i == 0 ? Visit::first : Visit::later, bytes(scratch), {2, isa});
    }
    finish_attention({run.shape, bytes(seen), absent(), run.log_sum_exp.tensor()}, bytes(scratch),
                     {2, isa});
    EXPECT_EQ(run.log_sum_exp, expected);
  }
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/engine/kernels/embedding.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/embedding.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

template <typename P, typename T>
void copy_row(const P* from, T* to, std::int64_t width) {
  for_vectors(0, width, [=](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(lanes.load(from + i), to + i);
  });
}

template <typename P, typename T>
void add_row(const P* from, T* to, std::int64_t width) {
  for_vectors(0, width, [=](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::Add(lanes.load(to + i), lanes.load(from + i)), to + i);
  });
}

// to[column] += sum of dy[row, column] over `count` rows that row_at(0), row_at(1) ... name.
template <typename T, typename G, class RowAt>
void add_rows(const T* dy, std::int64_t width, std::int64_t count, const RowAt& row_at, G* to,
              std::int64_t begin, std::int64_t end) {
  for_vectors(begin, end, [&](std::int64_t column, auto lanes) HWY_ATTR {
    Vector sum = splat(0);
    for (std::int64_t i = 0; i < count; ++i) {
      sum = hn::Add(sum, lanes.load(dy + row_at(i) * width + column));
    }
    lanes.store(hn::Add(lanes.load(to + column), sum), to + column);
  });
}

void lookup_all(const Tensor& ids, const Tensor& table, std::int64_t first_id, const Tensor& out,
                int threads) {
  const std::int64_t width = table.width();
  const std::int64_t entries = table.rows();
  const std::int32_t* id_of = ids.as<const std::int32_t>().data();
  with_type(table.dtype, [&](auto table_type) {
    with_type(out.dtype, [&](auto type) {
      using P = decltype(table_type);
      using T = decltype(type);
      const P* from = table.as<const P>().data();
      T* to = out.as<T>().data();
      parallel_for(ids.elements(), threads, [&](const Share& share) {
        for (std::int64_t t = share.begin; t < share.end; ++t) {
          const std::int64_t entry = id_of[t] - first_id;
          if (entry >= 0 && entry < entries) {
            copy_row(from + entry * width, to + t * width, width);
          } else {
            std::memset(static_cast<void*>(to + t * width), 0,
                        static_cast<std::size_t>(width) * sizeof(T));
          }
        }
      });
    });
  });
}

// The tokens of a block with rows in the table, sorted by row and then by place.
struct SortedTokens {
  std::array<std::pair<std::int32_t, std::int32_t>, kScatterBlock> row_and_token;
  std::int64_t count = 0;
};

void sort_tokens(const std::int32_t* ids, std::int64_t count, std::int64_t first_id,
                 std::int64_t entries, SortedTokens& sorted) {
  sorted.count = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int64_t entry = ids[t] - first_id;
    if (entry < 0 || entry >= entries) continue;
    sorted.row_and_token[static_cast<std::size_t>(sorted.count++)] = {
        static_cast<std::int32_t>(entry), static_cast<std::int32_t>(t)};
  }
  std::sort(sorted.row_and_token.begin(), sorted.row_and_token.begin() + sorted.count);
}

// Columns are split over threads, so no two write to one element.
void lookup_backward_all(const Tensor& ids, const Tensor& dy, std::int64_t first_id,
                         const Tensor& dtable, int threads) {
  constexpr std::int64_t kChunk = 32;  // columns: a cache line of bf16
  const std::int64_t width = dtable.width();
  const std::int64_t tokens = ids.elements();
  const std::int32_t* id_of = ids.as<const std::int32_t>().data();
  with_type(dy.dtype, [&](auto type) {
    with_type(dtable.dtype, [&](auto gradient_type) {
      using T = decltype(type);
      using G = decltype(gradient_type);
      const T* from = dy.as<const T>().data();
      G* to = dtable.as<G>().data();
      parallel_for((width + kChunk - 1) / kChunk, threads, [&](const Share& share) {
        const std::int64_t begin = share.begin * kChunk;
        const std::int64_t end = std::min(share.end * kChunk, width);
        SortedTokens sorted;
        for (std::int64_t first = 0; first < tokens; first += kScatterBlock) {
          sort_tokens(id_of + first, std::min(kScatterBlock, tokens - first), first_id,
                      dtable.rows(), sorted);
          const auto* pairs = sorted.row_and_token.data();
          for (std::int64_t i = 0; i < sorted.count;) {
            std::int64_t same = 1;
            while (i + same < sorted.count && pairs[i + same].first == pairs[i].first) ++same;
            add_rows(
                from + first * width, width, same,
                [&](std::int64_t k) { return std::int64_t{pairs[i + k].second}; },
                to + pairs[i].first * width, begin, end);
            i += same;
          }
        }
      });
    });
  });
}

void add_positions_all(const Tensor& x, const Positions& positions, const Tensor& table,
                       std::int64_t first_row, int threads) {
  const std::int64_t width = table.width();
  with_type(table.dtype, [&](auto table_type) {
    with_type(x.dtype, [&](auto type) {
      using P = decltype(table_type);
      using T = decltype(type);
      const P* from = table.as<const P>().data();
      T* to = x.as<T>().data();
      parallel_for(positions.rows(), threads, [&](const Share& share) {
        for (std::int64_t row = share.begin; row < share.end; ++row) {
          const std::int64_t token = (positions.first_row() + row) % positions.tokens;
          const std::int64_t entry = positions.of(token) + first_row;
          assert(entry < table.rows() && "a position has a row in the table");
          add_row(from + entry * width, to + row * width, width);
        }
      });
    });
  });
}

void add_positions_backward_all(const Tensor& dy, const Positions& positions, const Tensor& dtable,
                                std::int64_t first_row, int threads) {
  const std::int64_t width = dtable.width();
  with_type(dy.dtype, [&](auto type) {
    with_type(dtable.dtype, [&](auto gradient_type) {
      using T = decltype(type);
      using G = decltype(gradient_type);
      const T* from = dy.as<const T>().data();
      G* to = dtable.as<G>().data();
      // The first sequence whose token t is at or behind a row of all sequences.
      const auto sequence_at = [&](std::int64_t row, std::int64_t t) {
        return (std::max<std::int64_t>(row - t, 0) + positions.tokens - 1) / positions.tokens;
      };
      const std::int64_t begin = positions.first_row();
      parallel_for(positions.tokens, threads, [&](const Share& share) {
        for (std::int64_t t = share.begin; t < share.end; ++t) {
          const std::int64_t sequence = sequence_at(begin, t);
          const std::int64_t sequences = sequence_at(begin + positions.rows(), t) - sequence;
          if (sequences == 0) continue;
          add_rows(
              from, width, sequences,
              [&](std::int64_t i) { return (sequence + i) * positions.tokens + t - begin; },
              to + (positions.of(t) + first_row) * width, 0, width);
        }
      });
    });
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {
HWY_EXPORT(lookup_all);
HWY_EXPORT(lookup_backward_all);
HWY_EXPORT(add_positions_all);
HWY_EXPORT(add_positions_backward_all);
}  // namespace

void embedding_lookup(const Tensor& ids, const Tensor& table, std::int64_t first_id,
                      const Tensor& out, const Execution& execution) {
  HWY_DISPATCH_TABLE(lookup_all)
  [version_of(execution.isa)](ids, table, first_id, out, execution.threads);
}

void embedding_lookup_backward(const Tensor& ids, const Tensor& dy, std::int64_t first_id,
                               const Tensor& dtable, const Execution& execution) {
  HWY_DISPATCH_TABLE(lookup_backward_all)
  [version_of(execution.isa)](ids, dy, first_id, dtable, execution.threads);
}

void add_positions(const Tensor& x, const Positions& positions, const Tensor& table,
                   std::int64_t first_row, const Execution& execution) {
  HWY_DISPATCH_TABLE(add_positions_all)
  [version_of(execution.isa)](x, positions, table, first_row, execution.threads);
}

void add_positions_backward(const Tensor& dy, const Positions& positions, const Tensor& dtable,
                            std::int64_t first_row, const Execution& execution) {
  HWY_DISPATCH_TABLE(add_positions_backward_all)
  [version_of(execution.isa)](dy, positions, dtable, first_row, execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

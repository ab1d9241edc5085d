// Small matrix products and copies that attention is made of, all in fp32. Compiled once for each
// target.
#if defined(FOURHOLD_ENGINE_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURHOLD_ENGINE_KERNELS_ATTENTION_INL_H_
#undef FOURHOLD_ENGINE_KERNELS_ATTENTION_INL_H_
#else
#define FOURHOLD_ENGINE_KERNELS_ATTENTION_INL_H_
#endif

#include <limits>

#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/math_inl.h"
#include "fourhold/engine/kernels/positions.h"
#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {

inline constexpr std::int64_t kBlock = plan::kAttentionBlock;

// What a product does with what stands in its result.
enum class Start : std::uint8_t { zero, sum, scaled_sum };

// result [rows, columns] = left [rows, inner] right [inner, columns], added to what `start` says.
// Elements of `left` are read one by one, at any strides; right and result are rows of vectors.
struct Product {
  const float* left = nullptr;
  std::int64_t left_row = 0;    // from one row of left to the next
  std::int64_t left_inner = 0;  // from one column of left to the next
  const float* right = nullptr;
  std::int64_t right_row = 0;
  float* result = nullptr;
  std::int64_t result_row = 0;
  std::int64_t rows = 0;     // even
  std::int64_t columns = 0;  // a multiple of 16
  std::int64_t inner = 0;
  Start start = Start::zero;
  const float* column_factors = nullptr;  // scaled_sum: what stands there is multiplied by them
};

// A tile of kRows rows and kVectors vectors of the result, kept in registers.
template <int kRows, int kVectors>
HWY_INLINE void multiply_tile(const Product& p, std::int64_t row, std::int64_t column) {
  Vector sums[kRows][kVectors];
  float* result = p.result + row * p.result_row + column;
  HWY_UNROLL(6)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      if (p.start == Start::zero) {
        sums[r][v] = splat(0);
        continue;
      }
      sums[r][v] = load(result + r * p.result_row + v * kLanes);
      if (p.start == Start::scaled_sum) {
        sums[r][v] = hn::Mul(sums[r][v], load(p.column_factors + column + v * kLanes));
      }
    }
  }
  const float* left = p.left + row * p.left_row;
  const float* right = p.right + column;
  const std::int64_t left_row = p.left_row;
  for (std::int64_t k = 0; k < p.inner; ++k) {
    Vector b[kVectors];
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) b[v] = load(right + v * kLanes);
    HWY_UNROLL(6)
    for (int r = 0; r < kRows; ++r) {
      const Vector a = splat(left[r * left_row]);
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(a, b[v], sums[r][v]);
    }
    left += p.left_inner;
    right += p.right_row;
  }
  HWY_UNROLL(6)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) store(sums[r][v], result + r * p.result_row + v * kLanes);
  }
}

template <int kVectors>
HWY_INLINE void multiply_columns(const Product& p, std::int64_t column) {
  std::int64_t row = 0;
  for (; row + 6 <= p.rows; row += 6) multiply_tile<6, kVectors>(p, row, column);
  if (row + 4 <= p.rows) {
    multiply_tile<4, kVectors>(p, row, column);
    row += 4;
  }
  if (row < p.rows) multiply_tile<2, kVectors>(p, row, column);
}

inline void multiply_blocks(const Product& p) {
  // With 32 registers 6 x 4 sums, with 16 of them 6 x 2.
  constexpr int kVectors = kLanes == 16 ? 4 : 2;
  std::int64_t column = 0;
  for (; column + kVectors * kLanes <= p.columns; column += kVectors * kLanes) {
    multiply_columns<kVectors>(p, column);
  }
  if constexpr (kVectors > 2) {
    if (column + 2 * kLanes <= p.columns) {
      multiply_columns<2>(p, column);
      column += 2 * kLanes;
    }
  }
  if (column < p.columns) multiply_columns<1>(p, column);
}

// One head of `count` rows as fp32 [rows, padded width]; what is beyond the rows or the width is 0.
template <typename T>
void widen_rows(const T* from, std::int64_t from_row, std::int64_t count, std::int64_t width,
                std::int64_t rows, std::int64_t padded, float* to) {
  for (std::int64_t row = 0; row < rows; ++row, to += padded) {
    if (row >= count) {
      std::memset(to, 0, static_cast<std::size_t>(padded) * sizeof(float));
      continue;
    }
    const T* own = from + row * from_row;
    for_vectors(0, width, [=](std::int64_t i, auto lanes) HWY_ATTR {
      lanes.store(lanes.load(own + i), to + i);
    });
    for (std::int64_t i = width; i < padded; ++i) to[i] = 0;
  }
}

// to [columns, rows] = factor from^T; rows and columns are multiples of four.
inline void transpose(const float* from, std::int64_t rows, std::int64_t columns, float factor,
                      float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) to[j * rows + i] = factor * from[i * columns + j];
  }
#else
  const hn::FixedTag<float, 4> four;
  const auto factors = hn::Set(four, factor);
  for (std::int64_t i = 0; i < rows; i += 4) {
    for (std::int64_t j = 0; j < columns; j += 4) {
      const float* in = from + i * columns + j;
      const auto a = hn::LoadU(four, in);
      const auto b = hn::LoadU(four, in + columns);
      const auto c = hn::LoadU(four, in + 2 * columns);
      const auto d = hn::LoadU(four, in + 3 * columns);
      const auto ac_low = hn::InterleaveLower(four, a, c);
      const auto ac_high = hn::InterleaveUpper(four, a, c);
      const auto bd_low = hn::InterleaveLower(four, b, d);
      const auto bd_high = hn::InterleaveUpper(four, b, d);
      float* out = to + j * rows + i;
      hn::StoreU(hn::Mul(factors, hn::InterleaveLower(four, ac_low, bd_low)), four, out);
      hn::StoreU(hn::Mul(factors, hn::InterleaveUpper(four, ac_low, bd_low)), four, out + rows);
      hn::StoreU(hn::Mul(factors, hn::InterleaveLower(four, ac_high, bd_high)), four,
                 out + 2 * rows);
      hn::StoreU(hn::Mul(factors, hn::InterleaveUpper(four, ac_high, bd_high)), four,
                 out + 3 * rows);
    }
  }
#endif
}

// What the blocks of one head have in common.
struct HeadRule {
  std::int64_t head_dim;
  std::int64_t width;   // padded
  std::int64_t window;  // 0: all keys before a query
  float scale;
};

template <class Shape>
HeadRule head_rule(const Shape& shape) {
  return {shape.head_dim, plan::padded_head_dim(shape.head_dim), shape.window, shape.scale};
}

// Blocks [begin, end).
struct BlockRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Which keys the queries of a block see, by how far its first query is behind the first key.
struct Sight {
  std::int64_t window = 0;

  // Of `keys` keys in blocks: those that some query of a block sees.
  [[nodiscard]] BlockRange blocks(std::int64_t behind, std::int64_t queries,
                                  std::int64_t keys) const {
    const std::int64_t first = window == 0 ? 0 : std::max<std::int64_t>(0, behind - window + 1);
    const std::int64_t end = std::min(behind + queries, keys);
    if (first >= end) return {};
    return {first / kBlock, (end + kBlock - 1) / kBlock};
  }
  // Whether some query of a block does not see some key of another.
  [[nodiscard]] bool is_edge(std::int64_t behind) const {
    return behind < kBlock - 1 || (window > 0 && behind + kBlock - 1 >= window);
  }

  // scores [keys, queries] of what is not seen become minus infinity.
  void hide(std::int64_t behind, std::int64_t keys, float* scores) const {
    const Vector hidden = splat(-std::numeric_limits<float>::infinity());
    const auto first = static_cast<float>(behind);
    const auto reach =
        window == 0 ? std::numeric_limits<float>::infinity() : static_cast<float>(window);
    for (std::int64_t key = 0; key < keys; ++key) {
      for (std::int64_t query = 0; query < kBlock; query += kLanes) {
        // How far the key is before each query; exact, since blocks are near each other where it
        // matters and positions stay below 2^24.
        const Vector distance =
            hn::Iota(Floats(), first + static_cast<float>(query) - static_cast<float>(key));
        const auto seen = hn::And(hn::Ge(distance, splat(0)), hn::Lt(distance, splat(reach)));
        float* at = scores + key * kBlock + query;
        store(hn::IfThenElse(seen, load(at), hidden), at);
      }
    }
  }
};

// Whether some of `queries` queries from `position` on see a key.
inline bool sees_any(const Sight& sight, std::int64_t position, std::int64_t queries,
                     const Positions& keys) {
  bool any = false;
  for (std::int64_t piece = 0; piece < keys.pieces; ++piece) {
    const BlockRange seen =
        sight.blocks(position - keys.first_of_piece(piece), queries, keys.piece_tokens());
    any = any || seen.begin < seen.end;
  }
  return any;
}

// Calls body(behind, first key, keys, number of the block among all) for every block of keys that
// some of `queries` queries from `position` on see, in the order of positions.
template <class Body>
void for_each_block_seen(const Sight& sight, std::int64_t position, std::int64_t queries,
                         const Positions& keys, const Body& body) {
  const std::int64_t tokens = keys.piece_tokens();
  const std::int64_t blocks = plan::attention_blocks(tokens);
  for (std::int64_t piece = 0; piece < keys.pieces; ++piece) {
    const std::int64_t behind = position - keys.first_of_piece(piece);
    const BlockRange seen = sight.blocks(behind, queries, tokens);
    for (std::int64_t block = seen.begin; block < seen.end; ++block) {
      const std::int64_t first = block * kBlock;
      body(behind - first, piece * tokens + first, std::min(kBlock, tokens - first),
           piece * blocks + block);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

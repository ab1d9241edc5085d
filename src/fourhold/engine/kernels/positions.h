// Which position in its sequence each row of a tensor is.
#pragma once

#include <cassert>
#include <cstdint>

namespace fourhold::engine {

// Rows [sequences, tokens] of one rank. With context parallelism a rank holds two pieces of every
// sequence, one from its front and one from its back (so that causal work is even); otherwise one.
struct Positions {
  std::int64_t sequences = 1;
  std::int64_t tokens = 0;  // of one sequence on this rank
  std::int64_t first = 0;   // position of the first row
  std::int64_t pieces = 1;  // 1 or 2, of equal length
  std::int64_t second = 0;  // position of the first row of the second piece

  [[nodiscard]] std::int64_t rows() const { return sequences * tokens; }
  // The position of row `token` of a sequence.
  [[nodiscard]] std::int64_t of(std::int64_t token) const {
    if (pieces == 1) return first + token;
    assert(tokens % 2 == 0 && "two pieces of equal length");
    const std::int64_t piece = tokens / 2;
    return token < piece ? first + token : second + token - piece;
  }
};

}  // namespace fourhold::engine

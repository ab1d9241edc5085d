// Which position in its sequence each row of a tensor is.
#pragma once

#include <cassert>
#include <cstdint>

namespace fourhold::engine {

// Rows [sequences, tokens] of one rank. With context parallelism a rank holds two pieces of every
// sequence, one from its front and one from its back (so that causal work is even); otherwise one.
// With sequence parallelism a tensor of the stream has a share of these rows, which may begin and
// end inside a sequence.
struct Positions {
  std::int64_t sequences = 1;
  std::int64_t tokens = 0;  // of one sequence on this rank
  std::int64_t first = 0;   // position of the first row
  std::int64_t pieces = 1;  // 1 or 2, of equal length
  std::int64_t second = 0;  // position of the first row of the second piece
  std::int64_t shares = 1;  // equal ones, of the rows of all sequences
  std::int64_t share = 0;   // that the tensor has

  // Of the tensor.
  [[nodiscard]] std::int64_t rows() const {
    assert(sequences * tokens % shares == 0 && "equal shares");
    return sequences * tokens / shares;
  }
  // The tensor's first row, among those of all sequences.
  [[nodiscard]] std::int64_t first_row() const { return share * rows(); }
  [[nodiscard]] std::int64_t piece_tokens() const {
    assert(tokens % pieces == 0 && "pieces of equal length");
    return tokens / pieces;
  }
  [[nodiscard]] std::int64_t first_of_piece(std::int64_t piece) const {
    return piece == 0 ? first : second;
  }
  // The position of token `token` of a sequence.
  [[nodiscard]] std::int64_t of(std::int64_t token) const {
    if (pieces == 1) return first + token;
    const std::int64_t piece = piece_tokens();
    return token < piece ? first + token : second + token - piece;
  }
};

// The rows of member `place` of `members` that share every sequence of `seq` tokens over context
// parallelism: piece `place` from the front and as far from the back.
[[nodiscard]] inline Positions shared_positions(std::int64_t sequences, std::int64_t seq,
                                                std::int64_t members, std::int64_t place) {
  if (members == 1) return {.sequences = sequences, .tokens = seq};
  assert(seq % (2 * members) == 0 && "a plan's sequences are cut into equal pieces");
  const std::int64_t piece = seq / (2 * members);
  return {.sequences = sequences,
          .tokens = 2 * piece,
          .first = place * piece,
          .pieces = 2,
          .second = (2 * members - 1 - place) * piece};
}

}  // namespace fourhold::engine

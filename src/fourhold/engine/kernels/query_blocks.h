// The blocks of queries that partial attention keeps a state of.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fourhold/engine/kernels/partial_attention.h"

namespace fourhold::engine {

// A block of queries of one head of one sequence.
struct QueryBlock {
  std::int64_t sequence;
  std::int64_t head;
  std::int64_t token;     // the first, among those of its sequence on this rank
  std::int64_t position;  // its position
  std::int64_t queries;
  std::int64_t number;  // among all blocks: where its state stands
};

// Blocks by sequence, head, piece and place in it. No block spans two pieces.
struct QueryBlocks {
  const PartialAttentionShape& shape;

  [[nodiscard]] std::int64_t of_head() const {
    return shape.queries.pieces * plan::attention_blocks(shape.queries.piece_tokens());
  }
  [[nodiscard]] std::int64_t count() const {
    return shape.queries.sequences * shape.heads * of_head();
  }
  // `block`: among those of one head.
  [[nodiscard]] QueryBlock at(std::int64_t sequence, std::int64_t head, std::int64_t block) const {
    const Positions& queries = shape.queries;
    const std::int64_t tokens = queries.piece_tokens();
    const std::int64_t blocks = plan::attention_blocks(tokens);
    const std::int64_t piece = block / blocks;
    const std::int64_t first = block % blocks * plan::kAttentionBlock;
    return {sequence,
            head,
            piece * tokens + first,
            queries.first_of_piece(piece) + first,
            std::min(plan::kAttentionBlock, tokens - first),
            (sequence * shape.heads + head) * of_head() + block};
  }
};

}  // namespace fourhold::engine

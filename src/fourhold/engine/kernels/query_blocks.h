// The blocks of queries that partial attention keeps a state of, and how both of its directions go
// over them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/kernels/partial_attention.h"
#include "fourhold/engine/threads/parallel.h"

namespace fourhold::engine {

// Blocks from both ends in turn, so that equal counts of them are about equal work.
[[nodiscard]] inline std::int64_t from_both_ends(std::int64_t turn, std::int64_t blocks) {
  return turn % 2 == 0 ? turn / 2 : blocks - 1 - turn / 2;
}

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

// Calls body(block, number of the thread) for all blocks, each on one of the threads.
template <class Body>
void for_each_query_block(const PartialAttentionShape& shape, int threads, const Body& body) {
  const QueryBlocks blocks{shape};
  const std::int64_t of_head = blocks.of_head();
  parallel_for(blocks.count(), threads, [&](const Share& share) {
    for (std::int64_t item = share.begin; item < share.end; ++item) {
      body(blocks.at(item / (shape.heads * of_head), item / of_head % shape.heads,
                     from_both_ends(item % of_head, of_head)),
           share.worker);
    }
  });
}

// The queries of a call, as the rules for its memory count them.
[[nodiscard]] inline plan::PartialAttentionSizes query_sizes(const PartialAttentionShape& shape) {
  return {.sequences = shape.queries.sequences,
          .heads = shape.heads,
          .pieces = shape.queries.pieces,
          .piece_tokens = shape.queries.piece_tokens(),
          .head_dim = shape.head_dim};
}

// Whether memory is what a rule says, or more.
[[nodiscard]] inline bool holds(std::span<const std::byte> memory, std::int64_t bytes) {
  return static_cast<std::int64_t>(memory.size()) >= bytes;
}

// Runs a kernel's version for `isa`, out of the table of its versions, in `scratch`.
template <class Versions, class... Call>
void run_version(const Versions& versions, std::span<std::byte> scratch, const Execution& execution,
                 const Call&... call) {
  versions[version_of(execution.isa)](call..., reinterpret_cast<float*>(scratch.data()),
                                      execution.threads);
}

}  // namespace fourhold::engine

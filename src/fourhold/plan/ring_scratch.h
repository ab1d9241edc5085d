// What attention over context-parallel ranks needs beside its tensors: the rule that the ledger's
// scratch entry is made from and that the operation lays its scratch out by.
//
// Keys and values of one member after another are worked on while those of the next are under way,
// so none of it grows with the number of members.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "fourhold/base/checked.h"
#include "fourhold/base/dtype.h"
#include "fourhold/plan/attention_scratch.h"

namespace fourhold::plan {

// Queries of one rank, as blocks that never span two pieces of a sequence.
struct PartialAttentionSizes {
  std::int64_t sequences = 1;
  std::int64_t heads = 0;
  std::int64_t pieces = 1;
  std::int64_t piece_tokens = 0;
  std::int64_t head_dim = 0;

  [[nodiscard]] std::int64_t blocks() const {
    return checked_multiply(checked_multiply(sequences, heads),
                            checked_multiply(pieces, attention_blocks(piece_tokens)));
  }
};

// fp32 numbers of one block that stay from visit to visit. Backward: dq^T. Forward: out^T, and the
// largest score and the sum of each query.
[[nodiscard]] inline std::int64_t partial_gradient_floats(std::int64_t head_dim) {
  return checked_multiply(kAttentionBlock, padded_head_dim(head_dim));
}
[[nodiscard]] inline std::int64_t partial_attention_floats(std::int64_t head_dim) {
  return checked_add(partial_gradient_floats(head_dim), 2 * kAttentionBlock);
}
[[nodiscard]] inline std::int64_t partial_attention_bytes(const PartialAttentionSizes& sizes) {
  return checked_multiply(4 * partial_attention_floats(sizes.head_dim), sizes.blocks());
}
[[nodiscard]] inline std::int64_t partial_gradient_bytes(const PartialAttentionSizes& sizes) {
  return checked_multiply(4 * partial_gradient_floats(sizes.head_dim), sizes.blocks());
}
// The tokens of one sequence's keys when each piece is padded to whole blocks, as backward's
// scratch counts them.
[[nodiscard]] inline std::int64_t partial_attention_tokens(std::int64_t pieces,
                                                           std::int64_t piece_tokens) {
  return checked_multiply(pieces, attention_blocks(piece_tokens) * kAttentionBlock);
}

// Attention of one rank among `members` > 1.
struct RingSizes {
  std::int64_t members = 2;
  PartialAttentionSizes queries;        // two pieces
  std::int64_t key_value_elements = 0;  // of k and v of this rank together
  DType dtype = DType::bf16;
  std::int64_t threads = 1;

  [[nodiscard]] std::int64_t key_value_bytes() const { return bytes_of(key_value_elements, dtype); }
};

// Parts one after another, each 64-byte aligned.
class ScratchParts {
 public:
  // Where a part of so many bytes begins.
  std::int64_t place(std::int64_t bytes) {
    const std::int64_t begin = end_;
    end_ = checked_add(end_, checked_add(bytes, kAlignment - 1) / kAlignment * kAlignment);
    return begin;
  }
  [[nodiscard]] std::int64_t bytes() const { return end_; }

 private:
  static constexpr std::int64_t kAlignment = 64;
  std::int64_t end_ = 0;
};

// Where the parts of forward's scratch begin, and its bytes: the kernels' own, the state between
// visits, and k and v of the member that is worked on and of the next.
struct RingForwardScratch {
  std::int64_t kernel = 0;
  std::int64_t seen = 0;
  std::array<std::int64_t, 2> passing{};
  std::int64_t bytes = 0;

  explicit RingForwardScratch(const RingSizes& sizes) {
    ScratchParts parts;
    kernel = parts.place(attention_forward_scratch_bytes(sizes.queries.head_dim, sizes.threads));
    seen = parts.place(partial_attention_bytes(sizes.queries));
    for (std::int64_t& begin : passing) begin = parts.place(sizes.key_value_bytes());
    bytes = parts.bytes();
  }
};

// In backward: the gradient of the queries between visits; the fp32 sums of dk and dv of this
// rank's own keys; dk and dv for another member, made while those for the one before are under way,
// and those that arrive from another.
struct RingBackwardScratch {
  std::int64_t kernel = 0;
  std::int64_t dq_seen = 0;
  std::int64_t sums = 0;
  std::array<std::int64_t, 2> passing{};
  std::array<std::int64_t, 2> leaving{};  // one and the same where there is one other member
  std::int64_t arriving = 0;
  std::int64_t bytes = 0;

  explicit RingBackwardScratch(const RingSizes& sizes) {
    const PartialAttentionSizes& queries = sizes.queries;
    ScratchParts parts;
    kernel = parts.place(attention_backward_scratch_bytes(
        partial_attention_tokens(queries.pieces, queries.piece_tokens), queries.head_dim,
        sizes.threads));
    dq_seen = parts.place(partial_gradient_bytes(queries));
    sums = parts.place(bytes_of(sizes.key_value_elements, DType::fp32));
    for (std::int64_t& begin : passing) begin = parts.place(sizes.key_value_bytes());
    leaving[0] = parts.place(sizes.key_value_bytes());
    leaving[1] = sizes.members > 2 ? parts.place(sizes.key_value_bytes()) : leaving[0];
    arriving = parts.place(sizes.key_value_bytes());
    bytes = parts.bytes();
  }
};

}  // namespace fourhold::plan

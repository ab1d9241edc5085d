// What a training run reads: sequences in their order, the held-out part apart.
#pragma once

#include <cstdint>
#include <span>

#include "fourhold/engine/data/sequence_order.h"
#include "fourhold/engine/data/sequences.h"
#include "fourhold/engine/data/token_source.h"

namespace fourhold::engine::data {

struct DatasetOptions {
  std::int64_t length = 0;  // T
  std::uint64_t seed = 0;
  double held_out_share = kHeldOutShare;
};

class Dataset {
 public:
  // The source must outlive this. Errors of Sequences and split_sequences.
  Dataset(const TokenSource& source, const DatasetOptions& options);

  [[nodiscard]] const Sequences& sequences() const { return sequences_; }
  [[nodiscard]] const Split& split() const { return split_; }
  [[nodiscard]] const SequenceOrder& order() const { return order_; }

  // Rows first to first + b - 1 of the global batch that begins at `position`, as [b, T] inputs and
  // targets: b is what the spans hold. Row k is the same however ranks share the batch. Returns how
  // many targets are learned. Allocates nothing.
  std::int64_t fill(DataPosition position, std::int64_t first, std::span<TokenId> token_ids,
                    std::span<TokenId> targets) const;

  // The same for held-out sequences first to first + b - 1, in the order of the data.
  std::int64_t fill_held_out(std::int64_t first, std::span<TokenId> token_ids,
                             std::span<TokenId> targets) const;

 private:
  Sequences sequences_;
  Split split_;
  SequenceOrder order_;
};

}  // namespace fourhold::engine::data

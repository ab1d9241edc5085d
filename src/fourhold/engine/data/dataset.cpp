#include "fourhold/engine/data/dataset.h"

#include <cassert>

namespace fourhold::engine::data {
namespace {

// Calls sequence_of(row) for each row of [b, T] and reads that sequence into it.
template <typename SequenceOf>
std::int64_t fill_rows(const Sequences& sequences, std::span<TokenId> token_ids,
                       std::span<TokenId> targets, SequenceOf&& sequence_of) {
  const auto length = static_cast<std::size_t>(sequences.length());
  assert(token_ids.size() == targets.size() && token_ids.size() % length == 0);
  std::int64_t learned = 0;
  for (std::size_t row = 0; row * length < token_ids.size(); ++row) {
    learned += sequences.read(sequence_of(static_cast<std::int64_t>(row)),
                              token_ids.subspan(row * length, length),
                              targets.subspan(row * length, length));
  }
  return learned;
}

}  // namespace

Dataset::Dataset(const TokenSource& source, const DatasetOptions& options)
    : sequences_(source, options.length),
      split_(split_sequences(sequences_.count(), options.held_out_share)),
      order_(split_.training, options.seed) {}

std::int64_t Dataset::fill(DataPosition position, std::int64_t first, std::span<TokenId> token_ids,
                           std::span<TokenId> targets) const {
  return fill_rows(sequences_, token_ids, targets, [&](std::int64_t row) {
    return order_.sequence_at(order_.after(position, first + row));
  });
}

std::int64_t Dataset::fill_held_out(std::int64_t first, std::span<TokenId> token_ids,
                                    std::span<TokenId> targets) const {
  return fill_rows(sequences_, token_ids, targets, [&](std::int64_t row) {
    assert(first + row < split_.held_out);
    return split_.training + first + row;
  });
}

}  // namespace fourhold::engine::data

// In which order the training sequences are read: a new permutation in each epoch, from the seed.
//
// The permutation is a Feistel network over the smallest square power of two that holds all
// numbers, walked until it lands among them ("cycle walking": Black and Rogaway, Ciphers with
// Arbitrary Finite Domains, CT-RSA 2002). It takes no memory and depends on nothing but (seed,
// epoch, count), so a restart, or another number of ranks, reads the same data in the same order.
#pragma once

#include <cstdint>
#include <string>

#include "fourhold/base/json.h"

namespace fourhold::engine::data {

// The next sequence to be read: `sequence` counts within the epoch, in reading order. What a
// checkpoint saves.
struct DataPosition {
  std::int64_t epoch = 0;
  std::int64_t sequence = 0;
  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

class SequenceOrder {
 public:
  // Of `count` >= 1 training sequences.
  SequenceOrder(std::int64_t count, std::uint64_t seed);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  // Which sequence of the data stands at a position.
  [[nodiscard]] std::int64_t sequence_at(DataPosition position) const;

  // `sequences` >= 0 further on. A batch that does not fit in the rest of an epoch goes on in the
  // next one, so every sequence is read once in each epoch.
  [[nodiscard]] DataPosition after(DataPosition position, std::int64_t sequences) const;

 private:
  std::int64_t count_;
  std::uint64_t seed_;
  unsigned half_bits_ = 0;
};

// {"epoch": 1, "sequence": 42, "sequences": 1000, "seed": 7}: the order is saved with the position,
// so that it is not resumed on other data.
[[nodiscard]] json::Value to_json(DataPosition position, const SequenceOrder& order);
// Error when the value is no position, or one of another order. `where` names it.
[[nodiscard]] DataPosition position_from_json(const json::Value& value, const SequenceOrder& order,
                                              const std::string& where);

}  // namespace fourhold::engine::data

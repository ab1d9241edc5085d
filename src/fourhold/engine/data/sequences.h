// The rows of batches: T inputs and T targets, each target the token after its input.
#pragma once

#include <cstdint>
#include <span>

#include "fourhold/engine/data/token_source.h"
#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

// Without a mask, sequence i reads tokens i T to i T + T - 1 and learns each one's next, whatever
// document they are of; the tokens after the last whole sequence are left out. With a mask,
// sequence i is document i: what is not learned has the target kIgnoredTarget, and a short document
// is filled up with the input 0 and ignored targets, which causal attention keeps apart.
class Sequences {
 public:
  // `length` is T >= 1. The source must outlive this. Error when there is no whole sequence, or a
  // document of a masked source has more than T + 1 tokens.
  Sequences(const TokenSource& source, std::int64_t length);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t length() const { return length_; }

  // Fills T inputs and T targets; returns how many targets are learned. Allocates nothing.
  std::int64_t read(std::int64_t sequence, std::span<TokenId> inputs,
                    std::span<TokenId> targets) const;

 private:
  const TokenSource* source_;
  std::int64_t length_;
  std::int64_t count_ = 0;
};

// Sequences [0, training) are trained on, [training, training + held_out) only measured.
struct Split {
  std::int64_t training = 0;
  std::int64_t held_out = 0;
  friend bool operator==(const Split&, const Split&) = default;
};

inline constexpr double kHeldOutShare = 0.01;

// The tail is held out: the share of the sequences rounded down, at least one (none at share 0).
// Error when nothing is left to train on, or the share is not in [0, 1).
[[nodiscard]] Split split_sequences(std::int64_t sequences, double held_out_share = kHeldOutShare);

}  // namespace fourhold::engine::data

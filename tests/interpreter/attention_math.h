// What fused and unfused attention share: which keys a query sees, and the score of one pair.
#pragma once

#include <cstdint>

#include "tests/interpreter/call.h"

namespace fourhold::interpreter {

class AttentionMath {
 public:
  explicit AttentionMath(const Call& call);

  // Causal, within the sequence and the window.
  [[nodiscard]] bool sees(const TokenPlace& query, const TokenPlace& key) const;
  // The logit of q . k for a local head, with scale, cap and linear bias.
  [[nodiscard]] double score(double product, const TokenPlace& query, const TokenPlace& key,
                             std::int64_t head) const;
  // d score / d product.
  [[nodiscard]] double slope(double product) const;
  // The local kv head of a local query head.
  [[nodiscard]] std::int64_t kv_head(std::int64_t head) const { return head / group_; }
  // 0 or 1 / (1 - p): dropout of one probability inside a fused kernel.
  [[nodiscard]] double kept(const TokenPlace& query, const TokenPlace& key,
                            std::int64_t head) const;

 private:
  const Call& call_;
  double scale_;
  double cap_;
  bool linear_bias_;
  std::int64_t heads_;       // of the whole model
  std::int64_t first_head_;  // of this rank
  std::int64_t group_;       // query heads of one kv head
  double dropout_;
};

}  // namespace fourhold::interpreter

// Which tokens of a global batch are one rank's.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "fourhold/engine/data/token_type.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/plan/mesh.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine {

// Rows are sequences; those of one dp rank follow each other, so that row k of a global batch is
// the same for every split. With context parallelism a rank has two pieces of every sequence
// (kernels/positions.h).
class TokenShare {
 public:
  TokenShare(const plan::Plan& plan, const plan::Coordinates& at) : plan_(plan), at_(at) {}

  // The first row of one of the rank's micro-batches.
  [[nodiscard]] std::int64_t first_row(std::int64_t micro_batch) const {
    return (at_.dp * plan_.grad_accum + micro_batch) * plan_.micro_batch;
  }
  // How many of the rank's tokens have a target, of the whole rows of one micro-batch.
  [[nodiscard]] std::int64_t learned(std::span<const data::TokenId> targets) const;
  // Copies the rank's tokens of such rows to an int32 tensor.
  void copy(std::span<const data::TokenId> rows, const Tensor& to) const;

 private:
  // With the place of a piece's first token in the rows, and how many there are.
  using PieceVisit = std::function<void(std::int64_t first, std::int64_t count)>;
  void for_each_piece(const PieceVisit& visit) const;

  plan::Plan plan_;
  plan::Coordinates at_;
};

}  // namespace fourhold::engine

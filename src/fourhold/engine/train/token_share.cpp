#include "fourhold/engine/train/token_share.h"

#include <algorithm>
#include <cstring>

namespace fourhold::engine {

void TokenShare::for_each_piece(const PieceVisit& visit) const {
  const std::int64_t piece = plan_.cp == 1 ? plan_.seq : plan_.seq / (2 * plan_.cp);
  for (std::int64_t row = 0; row < plan_.micro_batch; ++row) {
    visit(row * plan_.seq + at_.cp * piece, piece);
    if (plan_.cp > 1) visit(row * plan_.seq + (2 * plan_.cp - 1 - at_.cp) * piece, piece);
  }
}

std::int64_t TokenShare::learned(std::span<const data::TokenId> targets) const {
  std::int64_t learned = 0;
  for_each_piece([&](std::int64_t first, std::int64_t count) {
    const auto own =
        targets.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    learned += std::count_if(own.begin(), own.end(), [](data::TokenId id) { return id >= 0; });
  });
  return learned;
}

void TokenShare::copy(std::span<const data::TokenId> rows, const Tensor& to) const {
  std::byte* out = to.data;
  for_each_piece([&](std::int64_t first, std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(count) * sizeof(data::TokenId);
    std::memcpy(out, rows.data() + first, bytes);
    out += bytes;
  });
}

}  // namespace fourhold::engine

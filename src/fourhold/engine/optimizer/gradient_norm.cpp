#include "fourhold/engine/optimizer/gradient_norm.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "fourhold/engine/optimizer/norm_kernel.h"
#include "fourhold/engine/threads/parallel.h"

namespace fourhold::engine {
namespace {

// A gradient is cut into at most this many pieces, whatever the threads.
constexpr std::int64_t kMaxPieces = 256;
constexpr std::int64_t kPieceUnit = 4096;  // elements

template <typename T>
std::int64_t count_nonfinite(const T* values, std::size_t count) {
  return std::count_if(values, values + count,
                       [](T value) { return !std::isfinite(to_float(value)); });
}

SquaredNorm of_piece(const Tensor& gradient, std::int64_t begin, std::int64_t end) {
  const auto count = static_cast<std::size_t>(end - begin);
  SquaredNorm norm;
  if (gradient.dtype == DType::fp32) {
    const float* values = gradient.as<const float>().data() + begin;
    norm = sum_squares(values, count);
    // A square of a finite fp32 is finite in double, so the sum tells whether to look.
    if (!std::isfinite(norm.sum)) norm.nonfinite = count_nonfinite(values, count);
  } else {
    const Bf16* values = gradient.as<const Bf16>().data() + begin;
    norm = sum_squares(values, count);
    if (!std::isfinite(norm.sum)) norm.nonfinite = count_nonfinite(values, count);
  }
  return norm;
}

}  // namespace

SquaredNorm& SquaredNorm::operator+=(const SquaredNorm& other) {
  const double total = sum + other.sum;
  const double part = total - sum;
  error += other.error + ((sum - (total - part)) + (other.sum - part));
  sum = total;
  largest = std::max(largest, other.largest);
  nonfinite += other.nonfinite;
  return *this;
}

SquaredNorm squared_norm(const Tensor& gradient, int threads) {
  assert(gradient.dtype == DType::fp32 || gradient.dtype == DType::bf16);
  const std::int64_t elements = gradient.elements();
  const std::int64_t units = (elements + kPieceUnit - 1) / kPieceUnit;
  const std::int64_t piece =
      std::max<std::int64_t>(1, (units + kMaxPieces - 1) / kMaxPieces) * kPieceUnit;
  const std::int64_t pieces = (elements + piece - 1) / piece;
  std::array<SquaredNorm, kMaxPieces> parts;
  parallel_for(pieces, threads, [&](const Share& share) {
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      parts[static_cast<std::size_t>(i)] =
          of_piece(gradient, i * piece, std::min(elements, (i + 1) * piece));
    }
  });
  SquaredNorm total;
  for (std::int64_t i = 0; i < pieces; ++i) total += parts[static_cast<std::size_t>(i)];
  return total;
}

double clip_coefficient(double squared, double max_norm) {
  assert(squared >= 0 && std::isfinite(squared));
  if (max_norm == 0) return 1;
  return std::min(1.0, max_norm / (std::sqrt(squared) + 1e-6));
}

}  // namespace fourhold::engine

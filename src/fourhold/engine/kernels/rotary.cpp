#include "fourhold/engine/kernels/rotary.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/rotary.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

constexpr auto kMostPairs = static_cast<std::size_t>(kMostTurnedColumns / 2);

// Sines and cosines of one position, advanced from row to row: within a run of neighbours by the
// addition theorem in fp64, whose error over a run stays below 1e-14.
class Turns {
 public:
  Turns(const Rotary& rotary, double direction)
      : pairs_(static_cast<std::size_t>(rotary.turned / 2)) {
    for (std::size_t i = 0; i < pairs_; ++i) {
      angle_[i] = direction * rotary.angle_of(static_cast<std::int64_t>(i));
      step_cosine_[i] = std::cos(angle_[i]);
      step_sine_[i] = std::sin(angle_[i]);
    }
  }

  void start_at(std::int64_t position) {
    for (std::size_t i = 0; i < pairs_; ++i) {
      const double angle = static_cast<double>(position) * angle_[i];
      cosine_[i] = std::cos(angle);
      sine_[i] = std::sin(angle);
    }
    narrow();
  }

  void advance() {
    for (std::size_t i = 0; i < pairs_; ++i) {
      const double cosine = cosine_[i] * step_cosine_[i] - sine_[i] * step_sine_[i];
      sine_[i] = sine_[i] * step_cosine_[i] + cosine_[i] * step_sine_[i];
      cosine_[i] = cosine;
    }
    narrow();
  }

  [[nodiscard]] const float* cosines() const { return narrow_cosine_.data(); }
  [[nodiscard]] const float* sines() const { return narrow_sine_.data(); }

 private:
  void narrow() {
    for (std::size_t i = 0; i < pairs_; ++i) {
      narrow_cosine_[i] = static_cast<float>(cosine_[i]);
      narrow_sine_[i] = static_cast<float>(sine_[i]);
    }
  }

  std::size_t pairs_;
  std::array<double, kMostPairs> angle_;
  std::array<double, kMostPairs> step_cosine_;
  std::array<double, kMostPairs> step_sine_;
  std::array<double, kMostPairs> cosine_;
  std::array<double, kMostPairs> sine_;
  std::array<float, kMostPairs> narrow_cosine_;
  std::array<float, kMostPairs> narrow_sine_;
};

template <typename T>
void turn_head(T* head, std::int64_t pairs, const float* cosines, const float* sines) {
  for_vectors(0, pairs, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector a = lanes.load(head + i);
    const Vector b = lanes.load(head + pairs + i);
    const Vector cosine = lanes.load(cosines + i);
    const Vector sine = lanes.load(sines + i);
    lanes.store(hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), head + i);
    lanes.store(hn::MulAdd(a, sine, hn::Mul(b, cosine)), head + pairs + i);
  });
}

void rotate_all(const Rotary& rotary, const Tensor& x, const Positions& positions, double direction,
                int threads) {
  // Runs of neighbouring tokens: the sines of a run's first are computed anew, whoever does it.
  constexpr std::int64_t kRun = 32;
  const std::int64_t width = x.elements() / positions.rows();
  const std::int64_t heads = width / rotary.head_dim;
  const std::int64_t piece = positions.piece_tokens();
  const std::int64_t first_row = positions.first_row();
  const std::int64_t runs_of_piece = (piece + kRun - 1) / kRun;
  with_type(x.dtype, [&](auto type) {
    using T = decltype(type);
    T* data = x.as<T>().data();
    parallel_for(runs_of_piece * positions.pieces, threads, [&](const Share& share) {
      Turns turns(rotary, direction);
      for (std::int64_t run = share.begin; run < share.end; ++run) {
        const std::int64_t begin = run / runs_of_piece * piece + run % runs_of_piece * kRun;
        const std::int64_t end = std::min(begin + kRun, (run / runs_of_piece + 1) * piece);
        turns.start_at(positions.of(begin));
        for (std::int64_t token = begin; token < end; ++token) {
          if (token > begin) turns.advance();
          for (std::int64_t sequence = 0; sequence < positions.sequences; ++sequence) {
            const std::int64_t number = sequence * positions.tokens + token - first_row;
            if (number < 0 || number >= positions.rows()) continue;
            T* row = data + number * width + rotary.first;
            for (std::int64_t h = 0; h < heads; ++h) {
              turn_head(row + h * rotary.head_dim, rotary.turned / 2, turns.cosines(),
                        turns.sines());
            }
          }
        }
      }
    });
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {

HWY_EXPORT(rotate_all);

void rotate_by(const Rotary& rotary, const Tensor& x, const Positions& positions, double direction,
               const Execution& execution) {
  assert(rotary.turned <= kMostTurnedColumns && rotary.turned % 2 == 0 &&
         rotary.first + rotary.turned <= rotary.head_dim && "the turned part lies in the head");
  if (rotary.turned == 0 || x.elements() == 0) return;
  HWY_DISPATCH_TABLE(rotate_all)
  [version_of(execution.isa)](rotary, x, positions, direction, execution.threads);
}

}  // namespace

double Rotary::angle_of(std::int64_t pair) const {
  const double angle =
      std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(turned));
  switch (scaling) {
    case RotaryScaling::none:
      return angle;
    case RotaryScaling::linear:
      return angle / factor;
    case RotaryScaling::llama3:
      break;
  }
  const double turns = original_max_positions * angle / (2 * std::numbers::pi);
  if (turns > high_frequency_factor) return angle;
  if (turns < low_frequency_factor) return angle / factor;
  const double ramp =
      (turns - low_frequency_factor) / (high_frequency_factor - low_frequency_factor);
  return (1 - ramp) * angle / factor + ramp * angle;
}

void rotate(const Rotary& rotary, const Tensor& x, const Positions& positions,
            const Execution& execution) {
  rotate_by(rotary, x, positions, 1, execution);
}

void rotate_back(const Rotary& rotary, const Tensor& dx, const Positions& positions,
                 const Execution& execution) {
  rotate_by(rotary, dx, positions, -1, execution);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

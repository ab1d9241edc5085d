#include "fourhold/engine/kernels/cross_entropy.h"

#include <cassert>
#include <cmath>
#include <limits>

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/kernels/fixed_sum.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/cross_entropy.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/math_inl.h"
#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

struct RowSum {
  float largest = kLowest;
  float sum = 0;  // of exp(logit - largest)

  [[nodiscard]] double log_sum() const {
    return static_cast<double>(largest) + std::log(static_cast<double>(sum));
  }
};

template <typename T>
RowSum sum_row(const T* logits, std::int64_t vocabulary) {
  Vector most = splat(kLowest);
  for_vectors(0, vocabulary, [&](std::int64_t i, auto lanes) HWY_ATTR {
    most = hn::Max(most, lanes.load(logits + i, kLowest));
  });
  const float largest = hn::GetLane(hn::MaxOfLanes(Floats(), most));
  const float sum = sum_over(vocabulary, [=](std::int64_t i, auto lanes) HWY_ATTR {
    return exponential(hn::Sub(lanes.load(logits + i, kLowest), splat(largest)));
  });
  return {largest, sum};
}

// gradient = scale exp(logit - log_sum), and scale less at the target's column.
template <typename T, typename G>
void gradient_row(const T* logits, double log_sum, std::int64_t target, std::int64_t vocabulary,
                  std::int64_t width, float scale, G* gradient) {
  const float near = static_cast<float>(log_sum);
  const float target_logit =
      target >= 0 && target < vocabulary ? to_float(logits[target]) : 0.0F;  // before it is lost
  for_vectors(0, vocabulary, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector probability = exponential(hn::Sub(lanes.load(logits + i), splat(near)));
    lanes.store(hn::Mul(probability, splat(scale)), gradient + i);
  });
  for_vectors(vocabulary, width,
              [=](std::int64_t i, auto lanes) HWY_ATTR { lanes.store(splat(0), gradient + i); });
  if (target < 0 || target >= vocabulary) return;
  // 1 - p without cancellation where p is nearly 1.
  const double rest = std::expm1(static_cast<double>(target_logit) - log_sum);
  const FirstLanes one{1};
  one.store(splat(scale * static_cast<float>(rest)), gradient + target);
}

template <typename G>
void clear_row(std::int64_t width, G* gradient) {
  for_vectors(0, width,
              [=](std::int64_t i, auto lanes) HWY_ATTR { lanes.store(splat(0), gradient + i); });
}

// The sum of losses; with a gradient, that as well.
double loss_all(const Logits& call, const Tensor* gradient, float scale, int threads) {
  const std::int64_t width = call.logits.width();
  const std::int32_t* targets = call.targets.as<const std::int32_t>().data();
  double total = 0;
  with_type(call.logits.dtype, [&](auto type) {
    with_type(gradient == nullptr ? call.logits.dtype : gradient->dtype, [&](auto gradient_type) {
      using T = decltype(type);
      using G = decltype(gradient_type);
      const T* logits = call.logits.as<const T>().data();
      G* to = gradient == nullptr ? nullptr : gradient->as<G>().data();
      const auto row_loss = [&](std::int64_t row) {
        const T* own = logits + row * width;
        const std::int64_t target = targets[row] - call.first_id;
        if (targets[row] < 0) {
          if (to != nullptr) clear_row(width, to + row * width);
          return 0.0;
        }
        assert(target >= 0 && target < call.vocabulary && "the target is one of the columns");
        const double log_sum = sum_row(own, call.vocabulary).log_sum();
        const double loss = log_sum - static_cast<double>(to_float(own[target]));
        if (to != nullptr) {
          gradient_row(own, log_sum, target, call.vocabulary, width, scale, to + row * width);
        }
        return loss;
      };
      total = fixed_sum(call.logits.rows(), threads, [&](std::int64_t begin, std::int64_t end) {
        double sum = 0;
        for (std::int64_t row = begin; row < end; ++row) sum += row_loss(row);
        return sum;
      });
    });
  });
  return total;
}

void statistics_all(const Logits& call, const Tensor& statistics, int threads) {
  const std::int64_t width = call.logits.width();
  const std::int32_t* targets = call.targets.as<const std::int32_t>().data();
  float* numbers = statistics.as<float>().data();
  with_type(call.logits.dtype, [&](auto type) {
    using T = decltype(type);
    const T* logits = call.logits.as<const T>().data();
    parallel_for(call.logits.rows(), threads, [&](const Share& share) {
      for (std::int64_t row = share.begin; row < share.end; ++row) {
        const RowSum sum = sum_row(logits + row * width, call.vocabulary);
        const std::int64_t target = targets[row] - call.first_id;
        const bool own = targets[row] >= 0 && target >= 0 && target < call.vocabulary;
        numbers[3 * row] = sum.largest;
        numbers[3 * row + 1] = sum.sum;
        numbers[3 * row + 2] = own ? to_float(logits[row * width + target]) : 0.0F;
      }
    });
  });
}

void gradient_all(const Logits& call, const Tensor& log_sums, float scale, const Tensor& gradient,
                  int threads) {
  const std::int64_t width = call.logits.width();
  const std::int32_t* targets = call.targets.as<const std::int32_t>().data();
  const float* log_sum = log_sums.as<const float>().data();
  with_type(call.logits.dtype, [&](auto type) {
    with_type(gradient.dtype, [&](auto gradient_type) {
      using T = decltype(type);
      using G = decltype(gradient_type);
      const T* logits = call.logits.as<const T>().data();
      G* to = gradient.as<G>().data();
      parallel_for(call.logits.rows(), threads, [&](const Share& share) {
        for (std::int64_t row = share.begin; row < share.end; ++row) {
          if (targets[row] < 0) {
            clear_row(width, to + row * width);
            continue;
          }
          gradient_row(logits + row * width, static_cast<double>(log_sum[row]),
                       targets[row] - call.first_id, call.vocabulary, width, scale,
                       to + row * width);
        }
      });
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
HWY_EXPORT(loss_all);
HWY_EXPORT(statistics_all);
HWY_EXPORT(gradient_all);
}  // namespace

double cross_entropy(const Logits& logits, float scale, const Tensor& gradient,
                     const Execution& execution) {
  return HWY_DISPATCH_TABLE(loss_all)[version_of(execution.isa)](logits, &gradient, scale,
                                                                 execution.threads);
}

double cross_entropy_loss(const Logits& logits, const Execution& execution) {
  return HWY_DISPATCH_TABLE(loss_all)[version_of(execution.isa)](logits, nullptr, 0.0F,
                                                                 execution.threads);
}

void cross_entropy_statistics(const Logits& logits, const Tensor& statistics,
                              const Execution& execution) {
  HWY_DISPATCH_TABLE(statistics_all)
  [version_of(execution.isa)](logits, statistics, execution.threads);
}

void cross_entropy_gradient(const Logits& logits, const Tensor& log_sums, float scale,
                            const Tensor& gradient, const Execution& execution) {
  HWY_DISPATCH_TABLE(gradient_all)
  [version_of(execution.isa)](logits, log_sums, scale, gradient, execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

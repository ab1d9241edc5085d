#include "fourhold/engine/kernels/norm.h"

#include <cassert>
#include <cmath>

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/norm.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/column_sum_inl.h"
#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

// Where rows, their statistics and their parameters stand.
template <typename T, typename P>
struct NormRows {
  std::int64_t width = 0;
  bool centred = false;
  const T* x = nullptr;
  const P* weight = nullptr;

  [[nodiscard]] std::int64_t numbers() const { return centred ? 2 : 1; }  // a row's statistics
  [[nodiscard]] float mean(const float* statistics) const { return centred ? statistics[0] : 0; }
  [[nodiscard]] float reciprocal(const float* statistics) const {
    return statistics[centred ? 1 : 0];
  }
};

template <typename T, typename P>
void normalise_row(const NormRows<T, P>& rows, const T* x, const P* bias, float epsilon, T* y,
                   float* statistics) {
  const std::int64_t width = rows.width;
  const float share = 1.0F / static_cast<float>(width);
  float mean = 0;
  if (rows.centred) {
    mean = share *
           sum_over(width, [=](std::int64_t i, auto lanes) HWY_ATTR { return lanes.load(x + i); });
    statistics[0] = mean;
  }
  const float squares = sum_over(width, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector centred = hn::Sub(lanes.load(x + i, mean), splat(mean));
    return hn::Mul(centred, centred);
  });
  const float reciprocal = 1.0F / std::sqrt(squares * share + epsilon);
  statistics[rows.centred ? 1 : 0] = reciprocal;
  const P* weight = rows.weight;
  for_vectors(0, width, [=](std::int64_t i, auto lanes) HWY_ATTR {
    Vector value = hn::Mul(hn::Sub(lanes.load(x + i), splat(mean)), splat(reciprocal));
    if (weight != nullptr) value = hn::Mul(value, lanes.load(weight + i));
    if (bias != nullptr) value = hn::Add(value, lanes.load(bias + i));
    lanes.store(value, y + i);
  });
}

// dx = rstd (g - mean(g) - n mean(g n)) with g = dy weight and n the normalised row; RMS norm has
// no mean(g).
template <typename T, typename P>
void backward_row(const NormRows<T, P>& rows, const T* x, const float* statistics, const T* dy,
                  T* dx, Destination destination) {
  const std::int64_t width = rows.width;
  const float share = 1.0F / static_cast<float>(width);
  const float mean = rows.mean(statistics);
  const float reciprocal = rows.reciprocal(statistics);
  const P* weight = rows.weight;
  const auto gradient = [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector value = lanes.load(dy + i);
    return weight == nullptr ? value : hn::Mul(value, lanes.load(weight + i));
  };
  const auto normalised = [=](std::int64_t i, auto lanes) HWY_ATTR {
    return hn::Mul(hn::Sub(lanes.load(x + i, mean), splat(mean)), splat(reciprocal));
  };
  const float mean_product = share * sum_over(width, [=](std::int64_t i, auto lanes) HWY_ATTR {
                               return hn::Mul(gradient(i, lanes), normalised(i, lanes));
                             });
  const float mean_gradient = rows.centred ? share * sum_over(width, gradient) : 0.0F;
  const bool adds = destination == Destination::accumulate;
  for_vectors(0, width, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector centred = hn::Sub(gradient(i, lanes), splat(mean_gradient));
    const Vector rest = hn::NegMulAdd(normalised(i, lanes), splat(mean_product), centred);
    const Vector value = hn::Mul(rest, splat(reciprocal));
    lanes.store(adds ? hn::Add(value, lanes.load(dx + i)) : value, dx + i);
  });
}

// Two sums a column: of dy n for the weight, of dy for the bias.
template <typename T>
struct ColumnsOfNorm {
  static constexpr int kSums = 2;
  const T* x;
  const T* dy;
  const float* statistics;
  std::int64_t width;
  bool centred;

  template <class Lanes>
  HWY_INLINE void add_to(Vector* sums, std::int64_t row, std::int64_t column, Lanes lanes) const {
    const float* numbers = statistics + row * (centred ? 2 : 1);
    const Vector mean = splat(centred ? numbers[0] : 0.0F);
    const Vector reciprocal = splat(numbers[centred ? 1 : 0]);
    const std::int64_t at = row * width + column;
    const Vector gradient = lanes.load(dy + at);
    const Vector normalised = hn::Mul(hn::Sub(lanes.load(x + at), mean), reciprocal);
    sums[0] = hn::MulAdd(gradient, normalised, sums[0]);
    sums[1] = hn::Add(sums[1], gradient);
  }
};

template <typename P>
const P* data_of(const Tensor& parameter) {
  return parameter.data == nullptr ? nullptr : parameter.as<const P>().data();
}

void norm_all(const NormForward& call, int threads) {
  const bool centred = call.kind == model::NormKind::layer_norm;
  const std::int64_t rows = call.statistics.elements() / (centred ? 2 : 1);
  assert((call.bias.data == nullptr || call.bias.dtype == call.weight.dtype) &&
         "weight and bias are of one type");
  with_type(call.x.dtype, [&](auto type) {
    with_type(call.weight.dtype, [&](auto parameter_type) {
      using T = decltype(type);
      using P = decltype(parameter_type);
      const NormRows<T, P> norm{call.x.elements() / rows, centred, call.x.as<const T>().data(),
                                data_of<P>(call.weight)};
      T* y = call.y.as<T>().data();
      float* statistics = call.statistics.as<float>().data();
      parallel_for(rows, threads, [&](const Share& share) {
        for (std::int64_t row = share.begin; row < share.end; ++row) {
          normalise_row(norm, norm.x + row * norm.width, data_of<P>(call.bias), call.epsilon,
                        y + row * norm.width, statistics + row * norm.numbers());
        }
      });
    });
  });
}

void norm_backward_all(const NormBackward& call, int threads) {
  const bool centred = call.kind == model::NormKind::layer_norm;
  const std::int64_t rows = call.statistics.elements() / (centred ? 2 : 1);
  const std::int64_t width = call.x.elements() / rows;
  const float* statistics = call.statistics.as<const float>().data();
  with_type(call.x.dtype, [&](auto type) {
    using T = decltype(type);
    const T* x = call.x.as<const T>().data();
    const T* dy = call.dy.as<const T>().data();
    // First: dx may take the place of dy.
    if (call.dweight.data != nullptr || call.dbias.data != nullptr) {
      const ColumnsOfNorm<T> columns{x, dy, statistics, width, centred};
      accumulate_column_sums(columns, rows, width,
                             {call.dweight.data == nullptr ? nullptr : &call.dweight,
                              call.dbias.data == nullptr ? nullptr : &call.dbias},
                             threads);
    }
    with_type(call.weight.dtype, [&](auto parameter_type) {
      using P = decltype(parameter_type);
      const NormRows<T, P> norm{width, centred, x, data_of<P>(call.weight)};
      T* dx = call.dx.as<T>().data();
      parallel_for(rows, threads, [&](const Share& share) {
        for (std::int64_t row = share.begin; row < share.end; ++row) {
          const std::int64_t at = row * width;
          backward_row(norm, x + at, statistics + row * norm.numbers(), dy + at, dx + at,
                       call.dx_destination);
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
HWY_EXPORT(norm_all);
HWY_EXPORT(norm_backward_all);
}  // namespace

void norm(const NormForward& call, const Execution& execution) {
  HWY_DISPATCH_TABLE(norm_all)[version_of(execution.isa)](call, execution.threads);
}

void norm_backward(const NormBackward& call, const Execution& execution) {
  HWY_DISPATCH_TABLE(norm_backward_all)[version_of(execution.isa)](call, execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

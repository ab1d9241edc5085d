#include "fourhold/engine/kernels/elementwise.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/column_sum_inl.h"
#include "fourhold/engine/kernels/math_inl.h"
#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

// The ranges of elements below are one worker's: [begin, end).

template <typename T>
void add_range(const T* a, const T* b, T* sum, std::int64_t begin, std::int64_t end) {
  for_vectors(begin, end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::Add(lanes.load(a + i), lanes.load(b + i)), sum + i);
  });
}

template <typename T>
void multiply_range(const T* a, const T* b, T* product, std::int64_t begin, std::int64_t end) {
  for_vectors(begin, end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::Mul(lanes.load(a + i), lanes.load(b + i)), product + i);
  });
}

template <typename T>
void scale_range(const T* x, float factor, T* scaled, std::int64_t begin, std::int64_t end) {
  for_vectors(begin, end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::Mul(lanes.load(x + i), splat(factor)), scaled + i);
  });
}

template <typename From, typename To>
void cast_range(const From* from, To* to, std::int64_t begin, std::int64_t end) {
  for_vectors(begin, end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(lanes.load(from + i), to + i);
  });
}

template <typename From, typename To>
void accumulate_range(const From* from, To* to, std::int64_t begin, std::int64_t end) {
  for_vectors(begin, end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::Add(lanes.load(to + i), lanes.load(from + i)), to + i);
  });
}

template <typename T>
void softcap_range(const T* x, float cap, T* y, std::int64_t begin, std::int64_t end) {
  for_vectors(begin, end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector bent = hyperbolic_tangent(hn::Mul(lanes.load(x + i), splat(1 / cap)));
    lanes.store(hn::Mul(bent, splat(cap)), y + i);
  });
}

template <typename T>
void softcap_backward_range(const T* y, const T* dy, float cap, T* dx, std::int64_t begin,
                            std::int64_t end) {
  for_vectors(begin, end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector bent = hn::Mul(lanes.load(y + i), splat(1 / cap));
    const Vector slope = hn::NegMulAdd(bent, bent, splat(1.0F));
    lanes.store(hn::Mul(lanes.load(dy + i), slope), dx + i);
  });
}

template <typename T, typename P>
void add_bias_rows(T* x, const P* bias, std::int64_t width, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row, x += width) {
    accumulate_range(bias, x, 0, width);
  }
}

void add_all(const Tensor& a, const Tensor& b, const Tensor& sum, int threads) {
  with_type(sum.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(sum.elements(), threads, [&](const Share& share) {
      add_range(a.as<T>().data(), b.as<T>().data(), sum.as<T>().data(), share.begin, share.end);
    });
  });
}

void multiply_all(const Tensor& a, const Tensor& b, const Tensor& product, int threads) {
  with_type(product.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(product.elements(), threads, [&](const Share& share) {
      multiply_range(a.as<T>().data(), b.as<T>().data(), product.as<T>().data(), share.begin,
                     share.end);
    });
  });
}

void scale_all(const Tensor& x, float factor, const Tensor& scaled, int threads) {
  with_type(scaled.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(scaled.elements(), threads, [&](const Share& share) {
      scale_range(x.as<T>().data(), factor, scaled.as<T>().data(), share.begin, share.end);
    });
  });
}

void cast_all(const Tensor& from, const Tensor& to, int threads) {
  with_type(from.dtype, [&](auto from_type) {
    with_type(to.dtype, [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      parallel_for(to.elements(), threads, [&](const Share& share) {
        cast_range(from.as<From>().data(), to.as<To>().data(), share.begin, share.end);
      });
    });
  });
}

void accumulate_all(const Tensor& from, const Tensor& to, int threads) {
  with_type(from.dtype, [&](auto from_type) {
    with_type(to.dtype, [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      parallel_for(to.elements(), threads, [&](const Share& share) {
        accumulate_range(from.as<From>().data(), to.as<To>().data(), share.begin, share.end);
      });
    });
  });
}

void softcap_all(const Tensor& x, float cap, const Tensor& y, int threads) {
  with_type(y.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(y.elements(), threads, [&](const Share& share) {
      softcap_range(x.as<T>().data(), cap, y.as<T>().data(), share.begin, share.end);
    });
  });
}

void softcap_backward_all(const Tensor& y, const Tensor& dy, float cap, const Tensor& dx,
                          int threads) {
  with_type(dx.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(dx.elements(), threads, [&](const Share& share) {
      softcap_backward_range(y.as<T>().data(), dy.as<T>().data(), cap, dx.as<T>().data(),
                             share.begin, share.end);
    });
  });
}

void add_bias_all(const Tensor& x, const Tensor& bias, int threads) {
  const std::int64_t width = bias.elements();
  with_type(x.dtype, [&](auto type) {
    with_type(bias.dtype, [&](auto bias_type) {
      using T = decltype(type);
      using P = decltype(bias_type);
      parallel_for(x.elements() / width, threads, [&](const Share& share) {
        add_bias_rows(x.as<T>().data() + share.begin * width, bias.as<P>().data(), width,
                      share.end - share.begin);
      });
    });
  });
}

// One sum a column: of dy itself.
template <typename T>
struct ColumnOfGradient {
  static constexpr int kSums = 1;
  const T* dy;
  std::int64_t width;

  template <class Lanes>
  HWY_INLINE void add_to(Vector* sums, std::int64_t row, std::int64_t column, Lanes lanes) const {
    sums[0] = hn::Add(sums[0], lanes.load(dy + row * width + column));
  }
};

void add_bias_backward_all(const Tensor& dy, const Tensor& dbias, int threads) {
  const std::int64_t width = dbias.elements();
  with_type(dy.dtype, [&](auto type) {
    using T = decltype(type);
    const ColumnOfGradient<T> columns{dy.as<T>().data(), width};
    accumulate_column_sums(columns, dy.elements() / width, width, {&dbias}, threads);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {
HWY_EXPORT(add_all);
HWY_EXPORT(multiply_all);
HWY_EXPORT(scale_all);
HWY_EXPORT(cast_all);
HWY_EXPORT(accumulate_all);
HWY_EXPORT(softcap_all);
HWY_EXPORT(softcap_backward_all);
HWY_EXPORT(add_bias_all);
HWY_EXPORT(add_bias_backward_all);
}  // namespace

void add(const Tensor& a, const Tensor& b, const Tensor& sum, const Execution& execution) {
  HWY_DISPATCH_TABLE(add_all)[version_of(execution.isa)](a, b, sum, execution.threads);
}

void multiply(const Tensor& a, const Tensor& b, const Tensor& product, const Execution& execution) {
  HWY_DISPATCH_TABLE(multiply_all)[version_of(execution.isa)](a, b, product, execution.threads);
}

void scale(const Tensor& x, float factor, const Tensor& scaled, const Execution& execution) {
  HWY_DISPATCH_TABLE(scale_all)[version_of(execution.isa)](x, factor, scaled, execution.threads);
}

void cast(const Tensor& from, const Tensor& to, const Execution& execution) {
  HWY_DISPATCH_TABLE(cast_all)[version_of(execution.isa)](from, to, execution.threads);
}

void accumulate(const Tensor& from, const Tensor& to, const Execution& execution) {
  HWY_DISPATCH_TABLE(accumulate_all)[version_of(execution.isa)](from, to, execution.threads);
}

void fill_zero(const Tensor& tensor, const Execution& execution) {
  parallel_for(tensor.bytes(), execution.threads, [&](const Share& share) {
    std::memset(tensor.data + share.begin, 0, static_cast<std::size_t>(share.end - share.begin));
  });
}

void softcap(const Tensor& x, float cap, const Tensor& y, const Execution& execution) {
  HWY_DISPATCH_TABLE(softcap_all)[version_of(execution.isa)](x, cap, y, execution.threads);
}

void softcap_backward(const Tensor& y, const Tensor& dy, float cap, const Tensor& dx,
                      const Execution& execution) {
  HWY_DISPATCH_TABLE(softcap_backward_all)
  [version_of(execution.isa)](y, dy, cap, dx, execution.threads);
}

void add_bias(const Tensor& x, const Tensor& bias, const Execution& execution) {
  HWY_DISPATCH_TABLE(add_bias_all)[version_of(execution.isa)](x, bias, execution.threads);
}

void add_bias_backward(const Tensor& dy, const Tensor& dbias, const Execution& execution) {
  HWY_DISPATCH_TABLE(add_bias_backward_all)
  [version_of(execution.isa)](dy, dbias, execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

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
HWY_EXPORT(cast_all);
HWY_EXPORT(accumulate_all);
HWY_EXPORT(add_bias_all);
HWY_EXPORT(add_bias_backward_all);
}  // namespace

void add(const Tensor& a, const Tensor& b, const Tensor& sum, const Execution& execution) {
  HWY_DISPATCH_TABLE(add_all)[version_of(execution.isa)](a, b, sum, execution.threads);
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

void add_bias(const Tensor& x, const Tensor& bias, const Execution& execution) {
  HWY_DISPATCH_TABLE(add_bias_all)[version_of(execution.isa)](x, bias, execution.threads);
}

void add_bias_backward(const Tensor& dy, const Tensor& dbias, const Execution& execution) {
  HWY_DISPATCH_TABLE(add_bias_backward_all)
  [version_of(execution.isa)](dy, dbias, execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

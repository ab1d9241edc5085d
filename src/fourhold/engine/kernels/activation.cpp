#include "fourhold/engine/kernels/activation.h"

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/activation.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/math_inl.h"
#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

// An activation at x, and its slope there.
struct ValueAndSlope {
  Vector value;
  Vector slope;
};

struct Gelu {
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const Normal normal = normal_at(x);
    return {hn::Mul(x, normal.below), hn::MulAdd(x, normal.density, normal.below)};
  }
};

// (1 + tanh u) / 2 is the sigmoid s of 2 u, whose slope is s (1 - s).
struct GeluTanh {
  static HWY_INLINE ValueAndSlope at(Vector x) {
    constexpr float kTwice = 1.5957691216057308F;  // 2 sqrt(2 / pi)
    const Vector square = hn::Mul(x, x);
    const Vector u =
        hn::Mul(hn::Mul(x, splat(kTwice)), hn::MulAdd(square, splat(0.044715F), splat(1.0F)));
    const Vector du = hn::MulAdd(square, splat(3 * 0.044715F * kTwice), splat(kTwice));
    const Vector s = sigmoid(u);
    const Vector value = hn::Mul(x, s);
    const Vector rise = hn::Mul(hn::Mul(value, hn::Sub(splat(1.0F), s)), du);
    // Where u is beyond all bounds, so that 0 x infinity might arise, the slope is s itself.
    const auto bounded = hn::Lt(hn::Abs(u), splat(88.0F));
    return {value, hn::Add(s, hn::IfThenElseZero(bounded, rise))};
  }
};

struct Relu {
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const auto positive = hn::Gt(x, splat(0.0F));
    return {hn::IfThenElseZero(positive, x), hn::IfThenElseZero(positive, splat(1.0F))};
  }
};

struct Silu {
  static HWY_INLINE ValueAndSlope at(Vector x) {
    const Vector s = sigmoid(x);
    const Vector value = hn::Mul(x, s);
    return {value, hn::MulAdd(value, hn::Sub(splat(1.0F), s), s)};
  }
};

template <class Visit>
void with_activation(Activation activation, const Visit& visit) {
  switch (activation) {
    case Activation::gelu:
      return visit(Gelu{});
    case Activation::gelu_tanh:
      return visit(GeluTanh{});
    case Activation::relu:
      return visit(Relu{});
    case Activation::silu:
      return visit(Silu{});
  }
}

template <class Function, typename T>
void forward_range(const T* x, T* y, const Share& share) {
  for_vectors(share.begin, share.end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(Function::at(lanes.load(x + i)).value, y + i);
  });
}

template <class Function, typename T>
void backward_range(const T* x, const T* dy, T* dx, const Share& share) {
  for_vectors(share.begin, share.end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector slope = Function::at(lanes.load(x + i)).slope;
    lanes.store(hn::Mul(lanes.load(dy + i), slope), dx + i);
  });
}

template <class Function, typename T>
void gated_range(const T* gate, const T* up, T* y, const Share& share) {
  for_vectors(share.begin, share.end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const Vector value = Function::at(lanes.load(gate + i)).value;
    lanes.store(hn::Mul(value, lanes.load(up + i)), y + i);
  });
}

template <class Function, typename T>
void gated_backward_range(const T* gate, const T* up, const T* dy, T* dgate, T* dup,
                          const Share& share) {
  for_vectors(share.begin, share.end, [=](std::int64_t i, auto lanes) HWY_ATTR {
    const ValueAndSlope active = Function::at(lanes.load(gate + i));
    const Vector gradient = lanes.load(dy + i);
    const Vector slope = hn::Mul(hn::Mul(gradient, lanes.load(up + i)), active.slope);
    lanes.store(slope, dgate + i);
    lanes.store(hn::Mul(gradient, active.value), dup + i);
  });
}

void activate_all(Activation activation, const Tensor& x, const Tensor& y, int threads) {
  with_activation(activation, [&](auto function) {
    with_type(x.dtype, [&](auto type) {
      using T = decltype(type);
      parallel_for(x.elements(), threads, [&](const Share& share) {
        forward_range<decltype(function)>(x.as<const T>().data(), y.as<T>().data(), share);
      });
    });
  });
}

void activate_backward_all(Activation activation, const Tensor& x, const Tensor& dy,
                           const Tensor& dx, int threads) {
  with_activation(activation, [&](auto function) {
    with_type(x.dtype, [&](auto type) {
      using T = decltype(type);
      parallel_for(x.elements(), threads, [&](const Share& share) {
        backward_range<decltype(function)>(x.as<const T>().data(), dy.as<const T>().data(),
                                           dx.as<T>().data(), share);
      });
    });
  });
}

void gated_activate_all(Activation activation, const Tensor& gate, const Tensor& up,
                        const Tensor& y, int threads) {
  with_activation(activation, [&](auto function) {
    with_type(gate.dtype, [&](auto type) {
      using T = decltype(type);
      parallel_for(gate.elements(), threads, [&](const Share& share) {
        gated_range<decltype(function)>(gate.as<const T>().data(), up.as<const T>().data(),
                                        y.as<T>().data(), share);
      });
    });
  });
}

void gated_activate_backward_all(Activation activation, const Tensor& gate, const Tensor& up,
                                 const Tensor& dy, const GatedGradients& gradients, int threads) {
  with_activation(activation, [&](auto function) {
    with_type(gate.dtype, [&](auto type) {
      using T = decltype(type);
      parallel_for(gate.elements(), threads, [&](const Share& share) {
        gated_backward_range<decltype(function)>(
            gate.as<const T>().data(), up.as<const T>().data(), dy.as<const T>().data(),
            gradients.dgate.as<T>().data(), gradients.dup.as<T>().data(), share);
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
HWY_EXPORT(activate_all);
HWY_EXPORT(activate_backward_all);
HWY_EXPORT(gated_activate_all);
HWY_EXPORT(gated_activate_backward_all);
}  // namespace

void activate(Activation activation, const Tensor& x, const Tensor& y, const Execution& execution) {
  HWY_DISPATCH_TABLE(activate_all)
  [version_of(execution.isa)](activation, x, y, execution.threads);
}

void activate_backward(Activation activation, const Tensor& x, const Tensor& dy, const Tensor& dx,
                       const Execution& execution) {
  HWY_DISPATCH_TABLE(activate_backward_all)
  [version_of(execution.isa)](activation, x, dy, dx, execution.threads);
}

void gated_activate(Activation activation, const Tensor& gate, const Tensor& up, const Tensor& y,
                    const Execution& execution) {
  HWY_DISPATCH_TABLE(gated_activate_all)
  [version_of(execution.isa)](activation, gate, up, y, execution.threads);
}

void gated_activate_backward(Activation activation, const Tensor& gate, const Tensor& up,
                             const Tensor& dy, const GatedGradients& gradients,
                             const Execution& execution) {
  HWY_DISPATCH_TABLE(gated_activate_backward_all)
  [version_of(execution.isa)](activation, gate, up, dy, gradients, execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

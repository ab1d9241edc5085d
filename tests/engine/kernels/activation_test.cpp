#include "fourhold/engine/kernels/activation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numbers>

#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

constexpr Activation kAll[] = {Activation::gelu, Activation::gelu_tanh, Activation::relu,
                               Activation::silu};

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::gelu_tanh:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

double slope(Activation activation, double x) {
  const double step = 1e-6;
  return (activated(activation, x + step) - activated(activation, x - step)) / (2 * step);
}

// Every 1/16 of [-20, 20] but 0, where relu has no slope; and an odd rest.
Values grid(DType dtype) {
  Values x(dtype, {641});
  for (std::int64_t i = 0; i < x.size(); ++i) {
    x.set(i, i == 320 ? 0.03125 : static_cast<double>(i - 320) / 16);
  }
  return x;
}

// Central differences of step 1e-6 err by 1e-9; the functions themselves by a few 1e-7
// (math_inl.h).
TEST(Activation, ValuesAndSlopesEqualTheirDefinitions) {
  for (const Isa isa : isas()) {
    for (const Activation activation : kAll) {
      for (const DType dtype : kComputeTypes) {
        SCOPED_TRACE(::testing::Message() << "isa " << static_cast<int>(isa) << " activation "
                                          << static_cast<int>(activation));
        Values x = grid(dtype);
        Values y(dtype, {641});
        Values dy = random_values(dtype, {641}, 3);
        Values dx(dtype, {641});
        activate(activation, x.tensor(), y.tensor(), {2, isa});
        activate_backward(activation, x.tensor(), dy.tensor(), dx.tensor(), {2, isa});
        std::vector<double> values;
        std::vector<double> gradients;
        for (std::int64_t i = 0; i < x.size(); ++i) {
          values.push_back(activated(activation, x[i]));
          gradients.push_back(dy[i] * slope(activation, x[i]));
        }
        expect_near(y, values, rounding_of(dtype) + 5e-7, 3e-7);
        expect_near(dx, gradients, rounding_of(dtype) + 5e-7, 3e-6);
      }
    }
  }
}

TEST(Activation, GatesEqualTheirDefinitionsInBothGradients) {
  for (const Isa isa : isas()) {
    for (const Activation activation : kAll) {
      for (const DType dtype : kComputeTypes) {
        Values gate = grid(dtype);
        Values up = random_values(dtype, {641}, 4);
        Values dy = random_values(dtype, {641}, 5);
        Values y(dtype, {641});
        Values dgate(dtype, {641});
        Values dup(dtype, {641});
        gated_activate(activation, gate.tensor(), up.tensor(), y.tensor(), {3, isa});
        gated_activate_backward(activation, gate.tensor(), up.tensor(), dy.tensor(),
                                {dgate.tensor(), dup.tensor()}, {3, isa});
        std::vector<double> values;
        std::vector<double> of_gate;
        std::vector<double> of_up;
        for (std::int64_t i = 0; i < gate.size(); ++i) {
          values.push_back(activated(activation, gate[i]) * up[i]);
          of_gate.push_back(dy[i] * up[i] * slope(activation, gate[i]));
          of_up.push_back(dy[i] * activated(activation, gate[i]));
        }
        expect_near(y, values, rounding_of(dtype) + 5e-7, 2e-6);
        expect_near(dgate, of_gate, rounding_of(dtype) + 5e-7, 1e-5);
        expect_near(dup, of_up, rounding_of(dtype) + 5e-7, 2e-6);
        // One of the gradients may take the place of dy.
        gated_activate_backward(activation, gate.tensor(), up.tensor(), dy.tensor(),
                                {dgate.tensor(), dy.tensor()}, {1, isa});
        EXPECT_EQ(dy, dup);
      }
    }
  }
}

TEST(Activation, FarOutNothingOverflowsAndWhatIsNotANumberStaysSo) {
  for (const Isa isa : isas()) {
    for (const Activation activation : kAll) {
      Values x(DType::fp32, {5});
      const double far[] = {-1e30, -500, 500, 1e30, std::nan("")};
      for (std::int64_t i = 0; i < 5; ++i) x.set(i, far[i]);
      Values ones(DType::fp32, {5});
      for (std::int64_t i = 0; i < 5; ++i) ones.set(i, 1);
      Values y(DType::fp32, {5});
      Values dx(DType::fp32, {5});
      activate(activation, x.tensor(), y.tensor(), {1, isa});
      activate_backward(activation, x.tensor(), ones.tensor(), dx.tensor(), {1, isa});
      SCOPED_TRACE(static_cast<int>(activation));
      EXPECT_NEAR(y[0], 0, 1e-6);
      EXPECT_NEAR(y[1], 0, 1e-6);
      EXPECT_EQ(y[2], 500);
      EXPECT_EQ(y[3], static_cast<double>(1e30F));
      EXPECT_NEAR(dx[0], 0, 1e-6);
      EXPECT_NEAR(dx[1], 0, 1e-6);
      EXPECT_EQ(dx[2], 1);
      EXPECT_EQ(dx[3], 1);
      if (activation != Activation::relu) {
        EXPECT_TRUE(std::isnan(y[4]));
        EXPECT_TRUE(std::isnan(dx[4]));
      }
    }
  }
}

RC_GTEST_PROP(Activation, BitsDoNotDependOnTheNumberOfThreads, ()) {
  const auto size = *rc::gen::inRange<std::int64_t>(1, 300);
  const auto activation = *rc::gen::elementOf(std::vector<Activation>(kAll, kAll + 4));
  const auto all = isas();
  const Isa isa = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  Values x = random_values(DType::bf16, {size}, 1, 3);
  Values one(DType::bf16, {size});
  Values many(DType::bf16, {size});
  activate(activation, x.tensor(), one.tensor(), {1, isa});
  activate(activation, x.tensor(), many.tensor(), {3, isa});
  RC_ASSERT(one == many);
}

}  // namespace
}  // namespace fourhold::engine

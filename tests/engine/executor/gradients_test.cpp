// Loss and gradients of every parameter beside those of the interpreter in double precision
// (tests/interpreter), which has its own mathematics and is itself checked by differences.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/engine/executor/run_fixture.h"
#include "tests/interpreter/batch.h"
#include "tests/interpreter/parameters.h"
#include "tests/interpreter/simulation.h"

namespace fourhold::engine::testing {
namespace {

namespace oracle = interpreter;

// The interpreter's conventions, where a config leaves them open.
model::Numerics oracle_numerics() {
  model::Numerics numerics;
  numerics.norm_epsilon = 1e-5;
  numerics.gelu = model::GeluForm::exact;
  return numerics;
}

class OracleDriver final : public StepDriver {
 public:
  OracleDriver(const oracle::Batch& batch, const plan::Plan& plan) : batch_(batch), plan_(plan) {}
  std::int64_t count_tokens() override { return batch_.valid; }
  void load_ids(std::int64_t micro_batch, const Tensor& ids) override {
    copy(batch_.tokens, micro_batch, ids);
  }
  void load_targets(std::int64_t micro_batch, const Tensor& targets) override {
    copy(batch_.targets, micro_batch, targets);
  }
  void loss(double mean) override { mean_loss = mean; }
  double squared_norm(std::span<const ParameterTensors>) override { return 1; }
  void total_squared_norm(double) override {}
  void clip(std::span<const ParameterTensors>) override {}
  void optimize(const ParameterTensors&) override {}

  double mean_loss = 0;

 private:
  void copy(const std::vector<std::vector<std::int64_t>>& rows, std::int64_t micro_batch,
            const Tensor& to) const {
    for (std::int64_t i = 0; i < to.elements(); ++i) {
      const auto row = static_cast<std::size_t>(micro_batch * plan_.micro_batch + i / plan_.seq);
      to.as<std::int32_t>()[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(rows[row][static_cast<std::size_t>(i % plan_.seq)]);
    }
  }
  const oracle::Batch& batch_;
  const plan::Plan& plan_;
};

oracle::ParameterKey key_of(const ParameterTensors& parameter) {
  return {parameter.id.block, parameter.id.layer, parameter.id.name, model::Variant::plain};
}

double value_at(const Tensor& tensor, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  return tensor.dtype == DType::bf16 ? static_cast<double>(to_float(tensor.as<Bf16>()[at]))
                                     : static_cast<double>(tensor.as<float>()[at]);
}

struct Outcome {
  double loss = 0;
  oracle::ParameterValues gradients;
};

// One step of the engine on these weights; values are those it really holds, rounded to its type.
Outcome engine_step(TinyRun& run, oracle::ParameterValues& values, const oracle::Batch& batch) {
  for (const ParameterTensors& parameter : run.executor->parameters()) {
    std::vector<double>& own = values.at(key_of(parameter));
    for (std::int64_t i = 0; i < parameter.weight.elements(); ++i) {
      double& value = own[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(i);
      if (parameter.weight.dtype == DType::bf16) {
        parameter.weight.as<Bf16>()[at] = to_bf16(static_cast<float>(value));
      } else {
        parameter.weight.as<float>()[at] = static_cast<float>(value);
      }
      value = value_at(parameter.weight, i);
    }
  }
  OracleDriver driver(batch, run.plan);
  run.executor->run_step(driver);
  Outcome outcome{driver.mean_loss, {}};
  for (const ParameterTensors& parameter : run.executor->parameters()) {
    std::vector<double>& own = outcome.gradients[key_of(parameter)];
    for (std::int64_t i = 0; i < parameter.gradient.elements(); ++i) {
      own.push_back(value_at(parameter.gradient, i));
    }
  }
  return outcome;
}

TinyRun run_like_oracle(Family family, const std::function<void(plan::Plan&)>& change,
                        const Options& options = {}) {
  TinyRun run = make_run(family, change, options);
  run.numerics = oracle_numerics();
  run.executor = std::make_unique<Executor>(run.config, run.numerics, run.plan, run.profile,
                                            *run.arena, options.watch);
  return run;
}

// Tensors whose gradient is zero but for rounding (GPT-2's key bias) count by the whole norm:
// oracle::difference.
void expect_like_oracle(Family family, const std::function<void(plan::Plan&)>& change,
                        const Options& options, double loss_tolerance, double tolerance) {
  TinyRun run = run_like_oracle(family, change, options);
  oracle::ParameterValues values =
      oracle::make_parameters(run.config, plan::switches_of(run.plan, run.profile));
  const oracle::Batch batch =
      oracle::make_batch(run.plan.global_batch, run.plan.seq, run.config.vocab);
  const Outcome found = engine_step(run, values, batch);
  const oracle::Outcome expected =
      oracle::Simulation(run.config, run.plan, run.profile).train_step(values);
  EXPECT_NEAR(found.loss, expected.loss, loss_tolerance * expected.loss);
  const oracle::Difference apart = oracle::difference(expected.gradients, found.gradients);
  EXPECT_LT(apart.relative, tolerance) << apart.where;
}

// Mistral's window of 5 tokens is less than a third of the sequence.
constexpr Family kFamilies[] = {Family::gpt2, Family::gpt2_untied, Family::llama, Family::qwen3,
                                Family::mistral};
constexpr Isa kIsas[] = {Isa::portable, Isa::avx2, Isa::avx512, Isa::avx512_bf16, Isa::amx};

// fp32 keeps 24 bits: a sum of a thousand products is within 1e-5 of its terms' norm.
TEST(Gradients, Fp32AreTheInterpretersInEveryFamilyAndOnEveryInstructionSet) {
  for (const Family family : kFamilies) {
    for (const Isa isa : kIsas) {
      if (isa > best_isa()) continue;
      SCOPED_TRACE(std::string(plan::to_string(isa)));
      expect_like_oracle(
          family,
          [](plan::Plan& plan) {
            plan.precision = plan::Precision::fp32;
            plan.grad_accum = 3;
          },
          {.isa = isa}, 1e-6, 2e-5);
    }
  }
}

TEST(Gradients, Fp32AreTheSameWithAChunkedLoss) {
  for (const Family family : kFamilies) {
    expect_like_oracle(
        family,
        [](plan::Plan& plan) {
          plan.precision = plan::Precision::fp32;
          plan.loss_chunk = 7;
        },
        {}, 1e-6, 2e-5);
  }
}

// bf16 keeps 8 bits: each activation and each gradient is off by up to 2^-9, and errors of some
// twenty operations in a row add like their squares: 2^-9 sqrt(20) x a margin of four.
TEST(Gradients, Bf16AreTheInterpretersWithinItsRounding) {
  for (const Family family : kFamilies) {
    for (const Isa isa : kIsas) {
      if (isa > best_isa()) continue;
      SCOPED_TRACE(std::string(plan::to_string(isa)));
      expect_like_oracle(
          family, [](plan::Plan& plan) { plan.grad_accum = 2; }, {.isa = isa}, 5e-3, 0.035);
    }
  }
}

// The same numbers are made again from the same numbers.
TEST(Gradients, RecomputationChangesNoBit) {
  for (const Family family : kFamilies) {
    for (const auto precision : {plan::Precision::fp32, plan::Precision::bf16}) {
      const auto with = [&](const char* policy) {
        TinyRun run = run_like_oracle(family, [&](plan::Plan& plan) {
          plan.precision = precision;
          plan.recompute = plan::recompute_from_string(policy);
          plan.grad_accum = 2;
        });
        oracle::ParameterValues values =
            oracle::make_parameters(run.config, plan::switches_of(run.plan, run.profile));
        return engine_step(
            run, values, oracle::make_batch(run.plan.global_batch, run.plan.seq, run.config.vocab));
      };
      const Outcome kept = with("none");
      for (const char* policy : {"selective", "full", "full:1"}) {
        const Outcome again = with(policy);
        EXPECT_EQ(again.loss, kept.loss) << policy;
        EXPECT_EQ(again.gradients, kept.gradients) << policy;
      }
    }
  }
}

// Micro-batches add where one batch sums: in fp32 only the order of sums differs.
TEST(Gradients, FourTimesTwoSequencesAreEightAtOnce) {
  for (const Family family : kFamilies) {
    const auto with = [&](std::int64_t micro_batch, std::int64_t grad_accum) {
      TinyRun run = run_like_oracle(family, [&](plan::Plan& plan) {
        plan.precision = plan::Precision::fp32;
        plan.micro_batch = micro_batch;
        plan.grad_accum = grad_accum;
      });
      oracle::ParameterValues values =
          oracle::make_parameters(run.config, plan::switches_of(run.plan, run.profile));
      return engine_step(run, values, oracle::make_batch(8, run.plan.seq, run.config.vocab));
    };
    const Outcome whole = with(8, 1);
    const Outcome parts = with(2, 4);
    EXPECT_NEAR(parts.loss, whole.loss, 1e-6 * whole.loss);
    const oracle::Difference apart = oracle::difference(whole.gradients, parts.gradients);
    EXPECT_LT(apart.relative, 2e-5) << apart.where;
  }
}

}  // namespace
}  // namespace fourhold::engine::testing

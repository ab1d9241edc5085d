#include "fourhold/engine/measure/kernel_rates.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fourhold/engine/kernels/activation.h"
#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/elementwise.h"
#include "fourhold/engine/kernels/gemm_candidates.h"
#include "fourhold/engine/kernels/norm.h"
#include "fourhold/engine/optimizer/gradient_norm.h"
#include "fourhold/engine/optimizer/update.h"
#include "fourhold/engine/threads/parallel.h"
#include "fourhold/plan/attention_scratch.h"
#include "fourhold/predict/step_work.h"

namespace fourhold::engine {
namespace {

constexpr std::int64_t kMostTokens = 1024;
constexpr std::int64_t kWidth = 768;
constexpr std::int64_t kNarrowWidth = 128;
constexpr std::int64_t kInner = 4 * kWidth;
constexpr std::int64_t kHeads = 12;

// A product with operands of its own.
struct Product {
  double flops = 0;
  std::unique_ptr<const Gemm> gemm;
  GemmOperands operands;
  std::span<std::byte> scratch;
};

// y [m, n], x [m, k], w [n, k] of one linear layer.
struct LinearTensors {
  Tensor y, x, w;
};
LinearTensors linear_tensors(const Trial& trial, const GemmSizes& sizes) {
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return trial.workspace.tensor(trial.compute, Dims{rows, columns});
  };
  return {matrix(sizes.m, sizes.n), matrix(sizes.m, sizes.k), matrix(sizes.n, sizes.k)};
}

Product product_of(const Trial& trial, plan::GemmForm form, const GemmSizes& sizes,
                   const LinearTensors& tensors) {
  const GemmProblem problem{.form = form,
                            .sizes = sizes,
                            .operands = trial.compute,
                            .output = trial.compute,
                            .threads = trial.execution.threads};
  GemmOperands operands;
  switch (form) {
    case plan::GemmForm::forward:
      operands = {tensors.x, tensors.w, tensors.y};
      break;
    case plan::GemmForm::backward_data:
      operands = {tensors.y, tensors.w, tensors.x};
      break;
    case plan::GemmForm::backward_weight:
      operands = {tensors.y, tensors.x, tensors.w};
      break;
  }
  const std::span<std::byte> scratch =
      trial.workspace.bytes(problem.scratch_bytes(trial.execution.isa));
  return {problem.flops(), choose_gemm(problem, trial.execution.isa).gemm, operands, scratch};
}

// One layer's products, forward and backward.
struct LayerCost {
  double flops = 0;
  double bytes = 0;
  double seconds = 0;
};

// `best` becomes the fastest product's rate, if that is faster.
LayerCost layer_cost(const Trial& trial, std::int64_t width, double& best) {
  trial.workspace.give_back();
  // Of GPT-2: q, k, v in one, the output of attention, and both of the feed-forward.
  const std::array layer{
      GemmSizes{trial.tokens, 3 * width, width}, GemmSizes{trial.tokens, width, width},
      GemmSizes{trial.tokens, 4 * width, width}, GemmSizes{trial.tokens, width, 4 * width}};
  std::vector<Product> products;
  LayerCost cost;
  for (const GemmSizes& sizes : layer) {
    const LinearTensors tensors = linear_tensors(trial, sizes);
    for (const auto form : {plan::GemmForm::forward, plan::GemmForm::backward_data,
                            plan::GemmForm::backward_weight}) {
      products.push_back(product_of(trial, form, sizes, tensors));
    }
    // As predict/step_work.h counts a linear's: forward x, w, y; backward x, w, dy, dx, dw.
    cost.bytes +=
        static_cast<double>(3 * tensors.x.bytes() + 2 * tensors.y.bytes() + 3 * tensors.w.bytes());
  }
  std::vector<std::function<void()>> runs;
  runs.reserve(products.size());
  for (const Product& product : products) {
    runs.emplace_back([&product] { product.gemm->run(product.operands, product.scratch); });
  }
  const std::vector<double> seconds = median_seconds_in_turn(trial.effort, runs);
  for (std::size_t i = 0; i < products.size(); ++i) {
    best = std::max(best, products[i].flops / seconds[i]);
    cost.flops += products[i].flops;
    cost.seconds += seconds[i];
  }
  return cost;
}

}  // namespace

Trial trial_of(DType compute, const Execution& execution, Effort effort, Workspace& workspace) {
  workspace.give_back();
  Trial trial{compute, execution, effort, workspace};
  constexpr GemmSizes kFirst{16, kWidth, kWidth};
  const Product first =
      product_of(trial, plan::GemmForm::forward, kFirst, linear_tensors(trial, kFirst));
  const double rate = first.flops / median_seconds(Effort::quick, [&] {
                        first.gemm->run(first.operands, first.scratch);
                      });
  // One forward of a layer's products.
  const double seconds = effort == Effort::quick ? 0.05 : 0.5;
  const double tokens = seconds * rate / (24 * static_cast<double>(kWidth * kWidth));
  trial.tokens = 16;
  while (trial.tokens < kMostTokens && 2 * static_cast<double>(trial.tokens) <= tokens) {
    trial.tokens *= 2;
  }
  return trial;
}

ProductRates product_rates(const Trial& trial) {
  ProductRates rates;
  const LayerCost wide = layer_cost(trial, kWidth, rates.best_flops_per_second);
  const LayerCost narrow = layer_cost(trial, kNarrowWidth, rates.best_flops_per_second);
  rates.flops_per_second = wide.flops / wide.seconds;
  rates.bytes_per_flop = wide.bytes / wide.flops;
  rates.narrow_flops_per_second = narrow.flops / narrow.seconds;
  rates.narrow_bytes_per_flop = narrow.bytes / narrow.flops;
  return rates;
}

AttentionRates attention_rates(const Trial& trial) {
  Workspace& workspace = trial.workspace;
  workspace.give_back();
  const Execution& execution = trial.execution;
  const std::int64_t head_dim = kWidth / kHeads;
  const std::int64_t tokens = std::max<std::int64_t>(trial.tokens, 64);
  const AttentionShape shape{.sequences = 1,
                             .seq = tokens,
                             .heads = kHeads,
                             .kv_heads = kHeads,
                             .head_dim = head_dim,
                             .scale = 0.125F};
  const auto rows = [&] { return workspace.tensor(trial.compute, Dims{tokens, kHeads, head_dim}); };
  const auto statistic = [&] { return workspace.tensor(DType::fp32, Dims{tokens, kHeads}); };
  AttentionForward forward{.shape = shape,
                           .q = rows(),
                           .k = rows(),
                           .v = rows(),
                           .out = rows(),
                           .log_sum_exp = statistic()};
  const AttentionBackward backward{.shape = shape,
                                   .q = forward.q,
                                   .k = forward.k,
                                   .v = forward.v,
                                   .out = forward.out,
                                   .log_sum_exp = forward.log_sum_exp,
                                   .dout = rows(),
                                   .row_sums = statistic(),
                                   .dq = rows(),
                                   .dk = rows(),
                                   .dv = rows()};
  const std::span<std::byte> scratch = workspace.bytes(
      std::max(plan::attention_forward_scratch_bytes(head_dim, execution.threads),
               plan::attention_backward_scratch_bytes(tokens, head_dim, execution.threads)));
  const double flops =
      4 * static_cast<double>(tokens * kWidth) * predict::mean_visited_keys(tokens, /*window=*/0);
  const auto part = [&](std::int64_t bytes) {
    return scratch.first(static_cast<std::size_t>(bytes));
  };
  AttentionRates rates;
  rates.forward_flops_per_second =
      flops / median_seconds(trial.effort, [&] {
        attention(forward, part(plan::attention_forward_scratch_bytes(head_dim, execution.threads)),
                  execution);
      });
  rates.backward_flops_per_second =
      flops * predict::kAttentionBackwardProducts / median_seconds(trial.effort, [&] {
        attention_backward(
            backward,
            part(plan::attention_backward_scratch_bytes(tokens, head_dim, execution.threads)),
            execution);
      });
  return rates;
}

double elementwise_bytes_per_second(const Trial& trial) {
  Workspace& workspace = trial.workspace;
  workspace.give_back();
  const Execution& execution = trial.execution;
  const auto rows = [&](std::int64_t width) {
    return workspace.tensor(trial.compute, Dims{trial.tokens, width});
  };
  const Tensor x = rows(kWidth);
  const Tensor y = rows(kWidth);
  const Tensor dy = rows(kWidth);
  const Tensor weight = workspace.tensor(trial.compute, Dims{kWidth});
  const Tensor dweight = workspace.tensor(trial.compute, Dims{kWidth});
  const Tensor statistics = workspace.tensor(DType::fp32, Dims{trial.tokens, 2});
  const Tensor inner = rows(kInner);
  const Tensor inner_y = rows(kInner);
  const Tensor inner_dy = rows(kInner);
  const NormForward forward{.kind = model::NormKind::layer_norm,
                            .x = x,
                            .weight = weight,
                            .bias = weight,
                            .y = y,
                            .statistics = statistics};
  const NormBackward backward{.kind = model::NormKind::layer_norm,
                              .x = x,
                              .statistics = statistics,
                              .weight = weight,
                              .dy = dy,
                              .dx = y,
                              .dweight = dweight,
                              .dbias = dweight};
  const double seconds = median_seconds(trial.effort, [&] {
    norm(forward, execution);
    add(x, dy, y, execution);
    activate(Activation::gelu_tanh, inner, inner_y, execution);
    activate_backward(Activation::gelu_tanh, inner, inner_dy, inner_y, execution);
    norm_backward(backward, execution);
  });
  return static_cast<double>((2 + 3 + 3) * x.bytes() + (2 + 3) * inner.bytes()) / seconds;
}

double update_bytes_per_second(const Trial& trial) {
  Workspace& workspace = trial.workspace;
  workspace.give_back();
  const Execution& execution = trial.execution;
  constexpr std::int64_t kParameters = std::int64_t{1} << 22;
  const auto all = [&](DType dtype) { return workspace.tensor(dtype, Dims{kParameters}); };
  const bool narrow = trial.compute != DType::fp32;
  const ParameterShard shard{.name = "w",
                             .part = plan::whole_part({kParameters}),
                             .weight = all(trial.compute),
                             .gradient = all(trial.compute),
                             .master = narrow ? all(DType::fp32) : Tensor{},
                             .moment1 = all(DType::fp32),
                             .moment2 = all(DType::fp32)};
  const StepFactors factors = step_factors({}, WeightDecay::decayed, 1, 1e-4, 1);
  const UpdateOptions options{.precision = narrow ? plan::Precision::bf16 : plan::Precision::fp32,
                              .threads = execution.threads};
  const double seconds =
      median_seconds(trial.effort, [&] { (void)update(shard, factors, options, Pass::write); });
  // The gradient once for its norm and once for the update; a master copy, or the weight itself.
  const std::int64_t each = 2 * bytes_of(1, trial.compute) + 16 + (narrow ? 8 + 2 : 2 * 4);
  const double norm_seconds =
      median_seconds(trial.effort, [&] { (void)squared_norm(shard.gradient, execution.threads); });
  return static_cast<double>(kParameters * each) / (seconds + norm_seconds);
}

double memory_bytes_per_second(const Execution& execution, Effort effort, Workspace& workspace) {
  workspace.give_back();
  const Dims dims{kWorkspaceBytes / 16};
  const Tensor a = workspace.tensor(DType::fp32, dims);
  const Tensor b = workspace.tensor(DType::fp32, dims);
  const Tensor sum = workspace.tensor(DType::fp32, dims);
  return static_cast<double>(3 * a.bytes()) /
         median_seconds(effort, [&] { add(a, b, sum, execution); });
}

double kernel_start_seconds(const Execution& execution, Effort effort) {
  constexpr int kCalls = 100;
  return median_seconds(effort,
                        [&] {
                          for (int i = 0; i < kCalls; ++i)
                            on_each_worker(execution.threads, [](int) {});
                        }) /
         kCalls;
}

}  // namespace fourhold::engine

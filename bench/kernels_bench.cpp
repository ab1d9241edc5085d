// What the kernels that are no matrix products reach: bytes or operations a second, on the widest
// instruction set of this machine. Compare runs of one session only.
#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/engine/kernels/activation.h"
#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/cross_entropy.h"
#include "fourhold/engine/kernels/elementwise.h"
#include "fourhold/engine/kernels/embedding.h"
#include "fourhold/engine/kernels/norm.h"
#include "fourhold/engine/kernels/rotary.h"

namespace {

using fourhold::Dims;
using fourhold::DType;
using fourhold::engine::Execution;
using fourhold::engine::Isa;
using fourhold::engine::Tensor;

Isa widest() {
  if ((hwy::SupportedTargets() & HWY_AVX3) != 0) return Isa::avx512;
  return (hwy::SupportedTargets() & HWY_AVX2) != 0 ? Isa::avx2 : Isa::portable;
}

// A tensor of small numbers, touched.
class Buffer {
 public:
  Buffer(DType dtype, Dims dims) : dtype_(dtype), dims_(dims) {
    storage_.resize(static_cast<std::size_t>(fourhold::bytes_of(dims.elements(), dtype)) + 64);
    const Tensor all = tensor();
    for (std::int64_t i = 0; i < all.elements(); ++i) {
      const float value = static_cast<float>((i * 7919) % 256 - 128) / 100.0F;
      if (dtype == DType::bf16) {
        all.as<fourhold::engine::Bf16>()[static_cast<std::size_t>(i)] =
            fourhold::engine::to_bf16(value);
      } else if (dtype == DType::fp32) {
        all.as<float>()[static_cast<std::size_t>(i)] = value;
      } else {
        all.as<std::int32_t>()[static_cast<std::size_t>(i)] =
            static_cast<std::int32_t>((i * 7919) % 50257);
      }
    }
  }
  [[nodiscard]] Tensor tensor() {
    const auto misfit = reinterpret_cast<std::uintptr_t>(storage_.data()) % 64;
    return {storage_.data() + (64 - misfit) % 64, dtype_, dims_};
  }
  [[nodiscard]] std::span<std::byte> bytes() {
    return {tensor().data, static_cast<std::size_t>(tensor().bytes())};
  }

 private:
  DType dtype_;
  Dims dims_;
  std::vector<std::byte> storage_;
};

void count_bytes(benchmark::State& state, std::int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
}

// Causal pairs of queries and keys, 2 head_dim operations a pair and product.
void count_flops(benchmark::State& state, const fourhold::engine::AttentionShape& shape,
                 int products) {
  const double pairs = static_cast<double>(shape.sequences * shape.heads) *
                       static_cast<double>(shape.seq * shape.seq) / 2;
  state.counters["flop/s"] =
      benchmark::Counter(pairs * 2 * products * static_cast<double>(shape.head_dim) *
                             static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

// GPT-2 124M: 12 heads of 64; 4096 tokens in sequences of the given length.
fourhold::engine::AttentionShape shape_of(const benchmark::State& state) {
  const std::int64_t seq = state.range(0);
  return {4096 / seq, seq, 12, 12, 64, 0, 0.125F};
}

void attention_forward(benchmark::State& state) {
  const auto shape = shape_of(state);
  const Execution execution{static_cast<int>(state.range(1)), widest()};
  const Dims rows{4096, 768};
  Buffer q(DType::bf16, rows), k(DType::bf16, rows), v(DType::bf16, rows), out(DType::bf16, rows);
  Buffer log_sum_exp(DType::fp32, Dims{4096, 12});
  Buffer scratch(DType::fp32,
                 Dims{fourhold::plan::attention_forward_scratch_bytes(64, execution.threads) / 4});
  for (auto _ : state) {
    fourhold::engine::attention(
        {shape, q.tensor(), k.tensor(), v.tensor(), out.tensor(), log_sum_exp.tensor()},
        scratch.bytes(), execution);
  }
  count_flops(state, shape, 2);
}

void attention_backward(benchmark::State& state) {
  const auto shape = shape_of(state);
  const Execution execution{static_cast<int>(state.range(1)), widest()};
  const Dims rows{4096, 768};
  Buffer q(DType::bf16, rows), k(DType::bf16, rows), v(DType::bf16, rows), out(DType::bf16, rows);
  Buffer dout(DType::bf16, rows), dq(DType::bf16, rows), dk(DType::bf16, rows);
  Buffer dv(DType::bf16, rows);
  Buffer log_sum_exp(DType::fp32, Dims{4096, 12}), row_sums(DType::fp32, Dims{4096, 12});
  Buffer scratch(
      DType::fp32,
      Dims{fourhold::plan::attention_backward_scratch_bytes(shape.seq, 64, execution.threads) / 4});
  fourhold::engine::attention(
      {shape, q.tensor(), k.tensor(), v.tensor(), out.tensor(), log_sum_exp.tensor()},
      scratch.bytes(), execution);
  for (auto _ : state) {
    fourhold::engine::attention_backward(
        {shape, q.tensor(), k.tensor(), v.tensor(), out.tensor(), log_sum_exp.tensor(),
         dout.tensor(), row_sums.tensor(), dq.tensor(), dk.tensor(), dv.tensor()},
        scratch.bytes(), execution);
  }
  count_flops(state, shape, 5);
}

void norm_forward(benchmark::State& state) {
  Buffer x(DType::bf16, Dims{4096, 768}), y(DType::bf16, Dims{4096, 768});
  Buffer weight(DType::bf16, Dims{768}), bias(DType::bf16, Dims{768});
  Buffer statistics(DType::fp32, Dims{4096, 2});
  const fourhold::engine::NormForward call{fourhold::model::NormKind::layer_norm,
                                           1e-5F,
                                           x.tensor(),
                                           weight.tensor(),
                                           bias.tensor(),
                                           y.tensor(),
                                           statistics.tensor()};
  const Execution execution{static_cast<int>(state.range(0)), widest()};
  for (auto _ : state) fourhold::engine::norm(call, execution);
  count_bytes(state, 2 * x.tensor().bytes());
}

void norm_backward(benchmark::State& state) {
  Buffer x(DType::bf16, Dims{4096, 768}), dy(DType::bf16, Dims{4096, 768});
  Buffer dx(DType::bf16, Dims{4096, 768}), weight(DType::bf16, Dims{768});
  Buffer dweight(DType::fp32, Dims{768}), dbias(DType::fp32, Dims{768});
  Buffer statistics(DType::fp32, Dims{4096, 2});
  fourhold::engine::NormBackward call;
  call.kind = fourhold::model::NormKind::layer_norm;
  call.x = x.tensor();
  call.statistics = statistics.tensor();
  call.weight = weight.tensor();
  call.dy = dy.tensor();
  call.dx = dx.tensor();
  call.dweight = dweight.tensor();
  call.dbias = dbias.tensor();
  const Execution execution{static_cast<int>(state.range(0)), widest()};
  for (auto _ : state) fourhold::engine::norm_backward(call, execution);
  count_bytes(state, 3 * x.tensor().bytes());
}

void gelu(benchmark::State& state, fourhold::engine::Activation activation, bool backward) {
  Buffer x(DType::bf16, Dims{4096, 3072}), y(DType::bf16, Dims{4096, 3072});
  Buffer dx(DType::bf16, Dims{4096, 3072});
  const Execution execution{static_cast<int>(state.range(0)), widest()};
  for (auto _ : state) {
    if (backward) {
      fourhold::engine::activate_backward(activation, x.tensor(), y.tensor(), dx.tensor(),
                                          execution);
    } else {
      fourhold::engine::activate(activation, x.tensor(), y.tensor(), execution);
    }
  }
  count_bytes(state, (backward ? 3 : 2) * x.tensor().bytes());
}

void gelu_tanh_forward(benchmark::State& state) {
  gelu(state, fourhold::engine::Activation::gelu_tanh, false);
}
void gelu_tanh_backward(benchmark::State& state) {
  gelu(state, fourhold::engine::Activation::gelu_tanh, true);
}
void gelu_forward(benchmark::State& state) {
  gelu(state, fourhold::engine::Activation::gelu, false);
}

void cross_entropy(benchmark::State& state) {
  Buffer logits(DType::bf16, Dims{512, 50257}), gradient(DType::bf16, Dims{512, 50257});
  Buffer targets(DType::int32, Dims{512});
  const Execution execution{static_cast<int>(state.range(0)), widest()};
  for (auto _ : state) {
    benchmark::DoNotOptimize(fourhold::engine::cross_entropy(
        {logits.tensor(), targets.tensor(), 50257, 0}, 1e-3F, gradient.tensor(), execution));
  }
  count_bytes(state, 2 * logits.tensor().bytes());
}

void rotate(benchmark::State& state) {
  Buffer x(DType::bf16, Dims{4096, 12, 64});
  const Execution execution{static_cast<int>(state.range(0)), widest()};
  fourhold::engine::Rotary rotary;
  rotary.head_dim = rotary.turned = 64;
  for (auto _ : state) {
    fourhold::engine::rotate(rotary, x.tensor(), {.sequences = 4, .tokens = 1024}, execution);
  }
  count_bytes(state, 2 * x.tensor().bytes());
}

void embedding_backward(benchmark::State& state) {
  Buffer ids(DType::int32, Dims{4096}), dy(DType::bf16, Dims{4096, 768});
  Buffer dtable(DType::bf16, Dims{50257, 768});
  const Execution execution{static_cast<int>(state.range(0)), widest()};
  for (auto _ : state) {
    fourhold::engine::embedding_lookup_backward(ids.tensor(), dy.tensor(), 0, dtable.tensor(),
                                                execution);
  }
  count_bytes(state, 3 * dy.tensor().bytes());
}

void residual_add(benchmark::State& state) {
  Buffer a(DType::bf16, Dims{4096, 768}), b(DType::bf16, Dims{4096, 768});
  const Execution execution{static_cast<int>(state.range(0)), widest()};
  for (auto _ : state) {
    fourhold::engine::add(a.tensor(), b.tensor(), a.tensor(), execution);
  }
  count_bytes(state, 3 * a.tensor().bytes());
}

void bias_backward(benchmark::State& state) {
  Buffer dy(DType::bf16, Dims{4096, 3072}), dbias(DType::fp32, Dims{3072});
  const Execution execution{static_cast<int>(state.range(0)), widest()};
  for (auto _ : state) {
    fourhold::engine::add_bias_backward(dy.tensor(), dbias.tensor(), execution);
  }
  count_bytes(state, dy.tensor().bytes());
}

BENCHMARK(attention_forward)->ArgsProduct({{256, 1024, 2048}, {1, 2}})->UseRealTime();
BENCHMARK(attention_backward)->ArgsProduct({{256, 1024, 2048}, {1, 2}})->UseRealTime();
BENCHMARK(norm_forward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(norm_backward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(gelu_tanh_forward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(gelu_tanh_backward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(gelu_forward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(cross_entropy)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(rotate)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(embedding_backward)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(residual_add)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(bias_backward)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace

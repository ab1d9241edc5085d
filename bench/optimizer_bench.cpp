// Whether an optimizer step reaches the memory's bandwidth: 32 Mi parameters, far beyond the
// caches. bytes_per_second counts what each parameter's state costs to read and write once;
// `increment` does the least there is to the same kind of memory in the same process. On a busy
// machine the CPU time, of all threads together, tells more than the real one.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstring>
#include <memory>

#include "fourhold/engine/optimizer/gradient_norm.h"
#include "fourhold/engine/optimizer/update.h"
#include "fourhold/engine/threads/parallel.h"

namespace {

using namespace fourhold;
using namespace fourhold::engine;

constexpr std::int64_t kElements = std::int64_t{1} << 25;
constexpr int kThreads = 2;

class Buffer {
 public:
  Buffer(DType dtype, int value)
      : dtype_(dtype), bytes_(new std::byte[static_cast<std::size_t>(bytes_of(kElements, dtype))]) {
    parallel_for(bytes_of(kElements, dtype), kThreads, [&](const Share& share) {
      std::memset(bytes_.get() + share.begin, value,
                  static_cast<std::size_t>(share.end - share.begin));
    });
  }
  [[nodiscard]] Tensor view() { return {bytes_.get(), dtype_, Dims{kElements}}; }

 private:
  DType dtype_;
  std::unique_ptr<std::byte[]> bytes_;
};

void adamw(benchmark::State& state, plan::Precision precision, DType gradient_dtype,
           DType master_dtype, std::int64_t bytes_per_parameter) {
  const bool fp32 = precision == plan::Precision::fp32;
  // 0x3c3c is 0.0115 as bf16 and fp32.
  Buffer weight(fp32 ? DType::fp32 : DType::bf16, 0x3c);
  Buffer gradient(gradient_dtype, 0x3c);
  Buffer master(master_dtype, 0x3c);
  Buffer moment1(DType::fp32, 0);
  Buffer moment2(DType::fp32, 0);
  ParameterShard shard{"w",           plan::whole_part({kElements}),
                       weight.view(), gradient.view(),
                       master.view(), moment1.view(),
                       moment2.view()};
  std::int64_t step = 0;
  for (auto _ : state) {
    const auto factors = step_factors({}, WeightDecay::decayed, ++step, 1e-4, 1);
    benchmark::DoNotOptimize(update(shard, factors, {precision, 1, step, kThreads}, Pass::write));
  }
  state.SetBytesProcessed(state.iterations() * kElements * bytes_per_parameter);
}

void norm(benchmark::State& state, DType dtype) {
  Buffer gradient(dtype, 0x3c);
  for (auto _ : state) {
    benchmark::DoNotOptimize(squared_norm(gradient.view(), kThreads).value());
  }
  state.SetBytesProcessed(state.iterations() * bytes_of(kElements, dtype));
}

// Reads and writes the same memory, as an update does: 8 bytes an element.
void increment(benchmark::State& state) {
  Buffer values(DType::fp32, 0);
  float* data = values.view().as<float>().data();
  for (auto _ : state) {
    parallel_for(kElements, kThreads, [&](const Share& share) {
      for (std::int64_t i = share.begin; i < share.end; ++i) data[i] += 1;
    });
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * kElements * 8);
}

}  // namespace

BENCHMARK(increment)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
// Master and moments 24 read and written, gradient 4 or 2 read, weight 2 written.
BENCHMARK_CAPTURE(adamw, bf16_fp32_gradient, plan::Precision::bf16, DType::fp32, DType::fp32, 30)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(adamw, bf16, plan::Precision::bf16, DType::bf16, DType::fp32, 28)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(adamw, fp32, plan::Precision::fp32, DType::fp32, DType::fp32, 28)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(adamw, split, plan::Precision::bf16_split, DType::bf16, DType::int16, 26)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(adamw, kahan, plan::Precision::bf16_kahan, DType::bf16, DType::int16, 26)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(adamw, sr, plan::Precision::bf16_sr, DType::bf16, DType::int16, 22)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(norm, fp32, DType::fp32)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(norm, bf16, DType::bf16)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

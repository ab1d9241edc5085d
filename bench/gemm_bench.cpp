// How fast our matrix multiplication is beside oneDNN's: the ratio of times of runs in turn.
//
// Shapes are the linear layers of GPT-2 124M and Llama 3.2 1B at 4096 tokens. An iteration is one
// run of each: figures need --benchmark_min_time=2, which gives seven pairs at least. Counters:
// `ratio`, the median over pairs of oneDNN's time over ours (above 1: ours is faster), and GF/s of
// both by their median. Times are CPU seconds of the process, and rates those seconds shared by
// its threads, because the machine may be busy; run with OMP_WAIT_POLICY=passive, so that waiting
// is not counted. bench/gemm runs this and writes what bench/results/ keeps.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "fourhold/engine/kernels/gemm_candidates.h"
#include "fourhold/engine/kernels/onednn.h"

namespace {

using fourhold::DType;
using fourhold::engine::Bf16;
using fourhold::engine::GemmForm;
using fourhold::engine::GemmOperands;
using fourhold::engine::GemmProblem;
using fourhold::engine::GemmSizes;
using fourhold::engine::Tensor;

// Zeroed pages, huge ones where the system has them, as the engine's arena asks for.
class Pages {
 public:
  explicit Pages(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes) + kHugePage) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::byte*>(memory);
    madvise(start_, bytes_, MADV_HUGEPAGE);
  }
  ~Pages() { munmap(start_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* data() const { return start_; }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  std::size_t bytes_;
  std::byte* start_ = nullptr;
};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Values of either sign near one, none denormal.
void fill(const Tensor& tensor) {
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    state = state * 1664525U + 1013904223U;
    const float value = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
    const auto at = static_cast<std::size_t>(i);
    if (tensor.dtype == DType::bf16) {
      tensor.as<Bf16>()[at] = fourhold::engine::to_bf16(value);
    } else {
      tensor.as<float>()[at] = value;
    }
  }
}

struct Layer {
  const char* name;
  GemmSizes sizes;
};

void own_beside_onednn(benchmark::State& state, const Layer& layer, GemmForm form, DType operands,
                       int threads) {
  const fourhold::engine::Isa isa = fourhold::engine::best_isa();
  GemmProblem problem{form, layer.sizes, operands,
                      form == GemmForm::backward_weight ? DType::fp32 : operands};
  problem.threads = threads;
  const auto sizes = fourhold::plan::product_sizes(form, layer.sizes);
  const auto own = fourhold::engine::choose_gemm(problem, isa);
  const auto other = fourhold::engine::onednn_gemm(problem);
  if (other.gemm == nullptr) {
    state.SkipWithError(other.refusal.c_str());
    return;
  }
  const auto bytes = [](std::int64_t rows, std::int64_t columns, DType dtype) {
    return fourhold::bytes_of(rows * columns, dtype);
  };
  const Pages left(bytes(sizes.rows, sizes.depth, operands));
  const Pages right(bytes(sizes.columns, sizes.depth, operands));
  const Pages output(bytes(sizes.rows, sizes.columns, problem.output));
  const std::int64_t own_scratch = problem.scratch_bytes(isa);
  const Pages scratch(std::max(own_scratch, other.scratch_bytes));
  const GemmOperands tensors{{left.data(), operands, {sizes.rows, sizes.depth}},
                             {right.data(), operands, {sizes.columns, sizes.depth}},
                             {output.data(), problem.output, {sizes.rows, sizes.columns}}};
  fill(tensors.left);
  fill(tensors.right);
  const auto seconds = [&](const fourhold::engine::Gemm& gemm, std::int64_t scratch_bytes) {
    const double before = cpu_seconds();
    gemm.run(tensors, {scratch.data(), static_cast<std::size_t>(scratch_bytes)});
    return cpu_seconds() - before;
  };
  (void)seconds(*own.gemm, own_scratch);  // pages that are touched for the first time
  (void)seconds(*other.gemm, other.scratch_bytes);
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  for (auto _ : state) {
    ours.push_back(seconds(*own.gemm, own_scratch));
    theirs.push_back(seconds(*other.gemm, other.scratch_bytes));
    ratios.push_back(theirs.back() / ours.back());
  }
  const double gigaflops = 2e-9 * static_cast<double>(sizes.rows) *
                           static_cast<double>(sizes.columns) * static_cast<double>(sizes.depth) *
                           threads;
  const double own_rate = gigaflops / median(ours);
  const double onednn_rate = gigaflops / median(theirs);
  state.counters["ratio"] = median(ratios);
  state.counters["pairs"] = static_cast<double>(ratios.size());
  state.counters["own_GF/s"] = own_rate;
  state.counters["onednn_GF/s"] = onednn_rate;
  state.SetLabel(std::string(own.name));
}

const bool kRegistered = [] {
  constexpr std::array kLayers{Layer{"small", {256, 384, 384}},
                               Layer{"qkv", {4096, 2304, 768}},
                               Layer{"fc", {4096, 3072, 768}},
                               Layer{"fcproj", {4096, 768, 3072}},
                               Layer{"head_quarter", {4096, 12576, 768}},
                               Layer{"llama_gate", {4096, 5632, 2048}},
                               Layer{"llama_down", {4096, 2048, 5632}}};
  constexpr std::array<const char*, 3> kForms{"forward", "backward_data", "backward_weight"};
  for (const DType dtype : {DType::bf16, DType::fp32}) {
    for (const int threads : {1, 2}) {
      for (const Layer& layer : kLayers) {
        for (std::size_t form = 0; form < kForms.size(); ++form) {
          const std::string name = "gemm/" + std::string(to_string(dtype)) + "/" + layer.name +
                                   "/" + kForms[form] + "/threads:" + std::to_string(threads);
          benchmark::RegisterBenchmark(name.c_str(), own_beside_onednn, layer,
                                       static_cast<GemmForm>(form), dtype, threads)
              ->Unit(benchmark::kMillisecond);
        }
      }
    }
  }
  return true;
}();

}  // namespace

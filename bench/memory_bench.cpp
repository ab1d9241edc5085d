// How long the compact ledger of every stage takes, once model and profile are loaded.
//
// glibc gives 420 KB of entries back to the system after each round, and the next round pays for
// their page faults: four times the work measured. `heap_kept` tells it to keep them, as a program
// does that asks more than once.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include "fourhold/model/load_model.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/memory.h"

namespace {

using namespace fourhold;

// Llama-3.1-405B as published: tp 8, pp 16, dp 128 on 16,384 devices (arXiv 2407.21783, table 4).
plan::Plan published_plan(const model::ModelConfig& config) {
  plan::Plan plan;
  plan.tp = 8;
  plan.sp = true;
  plan.pp = 16;
  plan.dp = 128;
  plan.zero = 1;
  plan.seq = 8192;
  plan.grad_accum = 16;
  plan.global_batch = plan.micro_batch * plan.grad_accum * plan.dp;
  plan.layers_per_stage = plan::canonical_layout(config.layer_count(), plan.pp);
  return plan;
}

void all_stages(benchmark::State& state, predict::WithLedger with_ledger) {
  const model::ModelConfig config = model::load_model("llama-3.1-405b");
  const plan::Profile profile = plan::load_profile("standard");
  const plan::Plan plan = published_plan(config);
  for (auto _ : state) {
    benchmark::DoNotOptimize(predict::predict_memory(config, plan, profile, with_ledger));
  }
}

void one_device(benchmark::State& state) {
  const model::ModelConfig config = model::load_model("llama-3.1-8b");
  const plan::Profile profile = plan::load_profile("standard");
  plan::Plan plan;
  plan.seq = 8192;
  plan.layers_per_stage = {config.layer_count()};
  for (auto _ : state) {
    benchmark::DoNotOptimize(predict::predict_memory(config, plan, profile));
  }
}

void all_stages_heap_kept(benchmark::State& state) {
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  all_stages(state, predict::WithLedger::yes);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);  // glibc's default
}

}  // namespace

BENCHMARK(all_stages_heap_kept)->Unit(benchmark::kMicrosecond)->Repetitions(9);
BENCHMARK_CAPTURE(all_stages, compact_ledgers_of_405b_on_16384, predict::WithLedger::yes)
    ->Unit(benchmark::kMicrosecond)
    ->Repetitions(9);
BENCHMARK_CAPTURE(all_stages, peaks_of_405b_on_16384, predict::WithLedger::no)
    ->Unit(benchmark::kMicrosecond)
    ->Repetitions(9);
BENCHMARK(one_device)->Unit(benchmark::kMicrosecond)->Repetitions(9);

// The search of GPT-3 175B's whole space, global batch 1536 of 2048 tokens, on nodes of 8
// A100-80GB: the goals are 2 s on 4096 devices, and 1,000,000 plans scored per second without
// bounds.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "fourhold/hardware/catalogue.h"
#include "fourhold/model/load_model.h"
#include "fourhold/predict/scaling.h"
#include "fourhold/search/scaling_curve.h"
#include "fourhold/search/search.h"

namespace {

using namespace fourhold;

// A search request points at its model and profile.
struct Gpt3 {
  model::ModelConfig config = model::load_model("gpt3-175b");
  plan::Profile profile = plan::load_profile("standard");
  search::SearchRequest request;

  explicit Gpt3(std::int64_t devices) {
    request.space.config = &config;
    request.space.profile = &profile;
    request.space.plan.count = devices;
    request.space.plan.seq = 2048;
    request.space.plan.global_batch = 1536;
    request.cluster =
        hardware::uniform_cluster(hardware::load_device("a100-sxm-80gb").device, devices);
    request.space.devices_per_node = request.cluster.devices_per_node;
    request.capacity = {.usable_bytes = request.cluster.device.usable,
                        .devices_per_node = request.cluster.devices_per_node};
  }
};

// The same plans in the same order, at the same step time.
bool same_plans(const search::SearchResult& a, const search::SearchResult& b) {
  return std::equal(a.plans.begin(), a.plans.end(), b.plans.begin(), b.plans.end(),
                    [](const search::FoundPlan& x, const search::FoundPlan& y) {
                      return x.plan == y.plan && x.step_seconds == y.step_seconds;
                    });
}

void search_gpt3(benchmark::State& state, search::Bounds bounds) {
  Gpt3 gpt3(state.range(0));
  gpt3.request.bounds = bounds;
  search::SearchResult result;
  for (auto iteration : state) {
    result = search::find_plans(gpt3.request);
    benchmark::DoNotOptimize(result.plans.data());
  }
  gpt3.request.bounds = bounds == search::Bounds::on ? search::Bounds::off : search::Bounds::on;
  if (!same_plans(result, search::find_plans(gpt3.request))) {
    state.SkipWithError("the ten plans with bounds and without differ");
  }
  // A candidate is scored when its memory is exact, alone or with its group; `evaluated` are those
  // that fit and got a time.
  state.counters["evaluated"] = static_cast<double>(result.counts.evaluated);
  state.counters["candidates"] = static_cast<double>(result.counts.candidates);
  state.counters["pruned"] = static_cast<double>(result.counts.pruned);
  state.counters["replayed"] = static_cast<double>(result.counts.replayed);
  state.counters["candidates/s"] = benchmark::Counter(
      static_cast<double>(result.counts.candidates), benchmark::Counter::kIsIterationInvariantRate);
}

void search_gpt3_bounded(benchmark::State& state) { search_gpt3(state, search::Bounds::on); }
void search_gpt3_unbounded(benchmark::State& state) { search_gpt3(state, search::Bounds::off); }

// The whole answer of `plan`: the proven best and the speed-up kept at 1, 2, 4 ... devices.
void search_and_scaling_gpt3(benchmark::State& state) {
  const Gpt3 gpt3(state.range(0));
  for (auto iteration : state) {
    const search::SearchResult result = search::find_plans(gpt3.request);
    const plan::Plan& best = result.plans.front().plan;
    const double alone =
        predict::single_device(gpt3.config, best, gpt3.profile, gpt3.request.cluster).step_seconds;
    benchmark::DoNotOptimize(
        search::scaling_curve(gpt3.request, best, alone, search::doubling_counts(state.range(0))));
  }
}

BENCHMARK(search_and_scaling_gpt3)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(search_gpt3_bounded)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(search_gpt3_unbounded)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);

}  // namespace

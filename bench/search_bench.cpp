// The search of GPT-3 175B's whole space, global batch 1536 of 2048 tokens, on nodes of 8 A100-80GB:
// the goals are 2 s on 4096 devices, and 1,000,000 plans scored per second without bounds.
#include <benchmark/benchmark.h>

#include "fourhold/hardware/catalogue.h"
#include "fourhold/model/load_model.h"
#include "fourhold/search/search.h"

namespace {

using namespace fourhold;

void search_gpt3(benchmark::State& state, search::Bounds bounds) {
  const model::ModelConfig config = model::load_model("gpt3-175b");
  const plan::Profile profile = plan::load_profile("standard");
  search::SearchRequest request;
  request.space.config = &config;
  request.space.profile = &profile;
  request.space.plan.count = state.range(0);
  request.space.plan.seq = 2048;
  request.space.plan.global_batch = 1536;
  request.cluster =
      hardware::uniform_cluster(hardware::load_device("a100-sxm-80gb").device, state.range(0));
  request.space.devices_per_node = request.cluster.devices_per_node;
  request.capacity = {.usable_bytes = request.cluster.device.usable,
                      .devices_per_node = request.cluster.devices_per_node};
  request.bounds = bounds;
  search::SearchResult result;
  for (auto iteration : state) {
    result = search::find_plans(request);
    benchmark::DoNotOptimize(result.plans.data());
  }
  state.counters["candidates"] = static_cast<double>(result.counts.candidates);
  state.counters["pruned"] = static_cast<double>(result.counts.pruned);
  state.counters["replayed"] = static_cast<double>(result.counts.replayed);
  state.counters["candidates/s"] = benchmark::Counter(
      static_cast<double>(result.counts.candidates), benchmark::Counter::kIsIterationInvariantRate);
}

void search_gpt3_bounded(benchmark::State& state) { search_gpt3(state, search::Bounds::on); }
void search_gpt3_unbounded(benchmark::State& state) { search_gpt3(state, search::Bounds::off); }

BENCHMARK(search_gpt3_bounded)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(search_gpt3_unbounded)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);

}  // namespace

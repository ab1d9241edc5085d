// How long placing takes and how much it wastes, on programs shaped like a training step.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/ledger/placement.h"
#include "fourhold/ledger/timeline.h"
#include "tests/unit/ledger/training_program.h"

namespace {

using fourhold::ledger::Entry;
using fourhold::ledger::SizeSource;

// Places programs of several seeds; the counters hold the entries and reserved / live, mean and
// worst.
template <class Program>
void place_programs(benchmark::State& state, const Program& program) {
  constexpr int kPrograms = 20;
  std::vector<std::vector<Entry>> programs;
  double entries = 0;
  double ratios = 0;
  double worst = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    SizeSource sizes(static_cast<std::uint64_t>(seed));
    programs.push_back(program(sizes));
    const auto reserved = fourhold::ledger::place(programs.back()).reserved_bytes;
    const auto live = fourhold::ledger::timeline_of(programs.back()).peak_bytes;
    const double ratio = static_cast<double>(reserved.count()) / static_cast<double>(live.count());
    entries += static_cast<double>(programs.back().size());
    ratios += ratio;
    worst = std::max(worst, ratio);
  }
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fourhold::ledger::place(programs[next]));
    next = (next + 1) % programs.size();
  }
  state.counters["entries"] = entries / kPrograms;
  state.counters["reserved/live"] = ratios / kPrograms;
  state.counters["worst"] = worst;
}

void place_saved_and_freed(benchmark::State& state) {
  place_programs(state, [&state](SizeSource& sizes) {
    return fourhold::ledger::saved_and_freed(state.range(0), 20, sizes);
  });
}

void place_gathered_and_recomputed(benchmark::State& state) {
  place_programs(state, [&state](SizeSource& sizes) {
    return fourhold::ledger::gathered_and_recomputed(state.range(0), sizes);
  });
}

void place_pipelined(benchmark::State& state) {
  place_programs(state, [&state](SizeSource& sizes) {
    return fourhold::ledger::pipelined(state.range(0), 4, 8, sizes);
  });
}

BENCHMARK(place_saved_and_freed)->Arg(12)->Arg(96)->Arg(480)->Unit(benchmark::kMillisecond);
BENCHMARK(place_gathered_and_recomputed)->Arg(12)->Arg(96)->Arg(480)->Unit(benchmark::kMillisecond);
BENCHMARK(place_pipelined)->Arg(24)->Arg(192)->Arg(1200)->Unit(benchmark::kMillisecond);

}  // namespace

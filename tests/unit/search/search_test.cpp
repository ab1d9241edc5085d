#include "fourhold/search/search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "fourhold/base/error.h"
#include "fourhold/hardware/catalogue.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/time.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold {
namespace {

struct Problem {
  model::ModelConfig config;
  plan::Profile profile;
  search::SearchRequest request;
};

// A small problem with about `tight` of the memory that its lightest plans need.
void fill(Problem& problem, std::int64_t devices, std::int64_t batch, std::int64_t usable_bytes) {
  search::SearchRequest& request = problem.request;
  request.space.config = &problem.config;
  request.space.profile = &problem.profile;
  request.space.plan.count = devices;
  request.space.plan.seq = 32;
  request.space.plan.global_batch = batch;
  request.space.devices_per_node = 4;
  request.cluster =
      hardware::uniform_cluster(hardware::load_device("a100-sxm-80gb").device, devices);
  request.cluster.devices_per_node = 4;
  request.capacity = {.usable_bytes = Bytes(usable_bytes), .devices_per_node = 4};
}

struct Brute {
  std::vector<search::FoundPlan> plans;
  std::int64_t illegal = 0;
  std::int64_t device_memory = 0;
  std::int64_t host_memory = 0;
  std::int64_t least_missing = 0;
  std::int64_t fitting = 0;
};

// Every candidate by predict_memory and predict_time.
Brute brute_force(const Problem& problem) {
  const search::SearchRequest& request = problem.request;
  const search::Space space(request.space);
  Brute brute;
  for (const search::OuterTuple& outer : space.outer_tuples()) {
    if (space.illegal(outer)) {
      ++brute.illegal;
      continue;
    }
    const auto recomputes = space.recomputes(outer);
    for (const std::int64_t vpp : space.vpps(outer)) {
      for (const int zero : space.zeros()) {
        for (const std::int64_t micro_batch : space.micro_batches(outer)) {
          for (std::size_t r = 0; r < recomputes.size(); ++r) {
            for (const plan::Offload offload : space.offloads()) {
              plan::Plan plan;
              try {
                plan = space.plan(outer, vpp, zero, micro_batch, recomputes[r], offload);
              } catch (const Error&) {
                ++brute.illegal;
                continue;
              }
              const predict::MemoryPrediction memory = predict::predict_memory(
                  problem.config, plan, problem.profile, predict::WithLedger::no);
              const auto missing = (memory.device_bytes - request.capacity.usable_bytes).count();
              if (missing > 0) {
                if (brute.device_memory++ == 0 || missing < brute.least_missing) {
                  brute.least_missing = missing;
                }
                continue;
              }
              if (predict::classify(memory, request.capacity) != predict::VerdictClass::fits) {
                ++brute.host_memory;
                continue;
              }
              ++brute.fitting;
              const double seconds =
                  predict::predict_time(problem.config, plan, problem.profile, request.cluster)
                      .step_seconds;
              brute.plans.push_back(
                  {{outer, vpp, zero, micro_batch, static_cast<std::int64_t>(r), offload},
                   plan,
                   seconds});
            }
          }
        }
      }
    }
  }
  std::sort(brute.plans.begin(), brute.plans.end(),
            [](const search::FoundPlan& a, const search::FoundPlan& b) {
              if (a.step_seconds != b.step_seconds) return a.step_seconds < b.step_seconds;
              return a.candidate < b.candidate;
            });
  return brute;
}

const search::Rejection* rejection(const search::SearchResult& result, const std::string& reason) {
  const auto found =
      std::find_if(result.rejected.begin(), result.rejected.end(),
                   [&](const search::Rejection& one) { return one.reason == reason; });
  return found == result.rejected.end() ? nullptr : &*found;
}

void check_against_brute_force(const Problem& problem) {
  const Brute brute = brute_force(problem);
  for (const search::Bounds bounds : {search::Bounds::on, search::Bounds::off}) {
    search::SearchRequest request = problem.request;
    request.bounds = bounds;
    const search::SearchResult result = search::find_plans(request);
    RC_ASSERT(result.counts.illegal == brute.illegal);
    RC_ASSERT(result.counts.does_not_fit == brute.device_memory + brute.host_memory);
    RC_ASSERT(result.counts.pruned + result.counts.evaluated == brute.fitting);
    RC_ASSERT(result.counts.candidates == result.counts.illegal + result.counts.does_not_fit +
                                              result.counts.pruned + result.counts.evaluated);
    if (brute.device_memory > 0) {
      const search::Rejection* missed = rejection(result, "device_memory");
      RC_ASSERT(missed != nullptr);
      RC_ASSERT(missed->count == brute.device_memory);
      RC_ASSERT(missed->nearest.has_value());
      RC_ASSERT(missed->nearest->missing_bytes == brute.least_missing);
    }
    RC_ASSERT(result.plans.size() == std::min<std::size_t>(10, brute.plans.size()));
    for (std::size_t i = 0; i < result.plans.size(); ++i) {
      RC_LOG() << i << ": " << to_string(result.plans[i].plan) << " "
               << result.plans[i].step_seconds << "\n   " << to_string(brute.plans[i].plan) << " "
               << brute.plans[i].step_seconds << "\n";
      // Sums in another order may differ in the last digits, and swap plans that tie.
      const double difference = result.plans[i].step_seconds - brute.plans[i].step_seconds;
      RC_ASSERT(std::abs(difference) <= 1e-12 * brute.plans[i].step_seconds);
    }
  }
}

RC_GTEST_PROP(Search, EqualsBruteForceWithFullReplay, ()) {
  Problem problem{test::small_model(test::pick<std::string>({"llama", "gpt2", "mixtral"})),
                  plan::load_profile(test::pick<std::string>(plan::profile_names())),
                  {}};
  const auto devices = test::pick<std::int64_t>({1, 2, 4, 8});
  const auto batch = test::pick<std::int64_t>({8, 12, 16});
  // From hardly any plan that fits to all of them.
  const auto usable = test::pick<std::int64_t>({30'000, 60'000, 100'000, 200'000, 10'000'000});
  fill(problem, devices, batch, usable);
  if (test::pick<int>({0, 1}) == 1)
    problem.request.space.plan.pp = test::pick<std::int64_t>({1, 2});
  if (problem.request.space.plan.pp && !problem.profile.can("pp"))
    problem.request.space.plan.pp = 1;
  check_against_brute_force(problem);
}

}  // namespace
}  // namespace fourhold

#include "fourhold/search/search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/search/small_problem.h"

namespace fourhold {
namespace {

using predict::VerdictClass;
using test::BrutePlan;
using test::SmallProblem;

const search::Rejection* rejection(const search::SearchResult& result, const std::string& reason) {
  const auto found =
      std::find_if(result.rejected.begin(), result.rejected.end(),
                   [&](const search::Rejection& one) { return one.reason == reason; });
  return found == result.rejected.end() ? nullptr : &*found;
}

// Candidates that are counted, legal or not; an illegal outer tuple once.
std::int64_t candidates_of(const search::Space& space) {
  std::int64_t count = 0;
  for (const search::OuterTuple& outer : space.outer_tuples()) {
    count += space.illegal(outer) ? 1 : space.candidates(outer);
  }
  return count;
}

// The search against every plan predicted by itself and replayed.
void check(const SmallProblem& problem, search::Bounds bounds) {
  std::vector<BrutePlan> brute = test::all_plans(problem);
  search::SearchRequest request = problem.request();
  request.bounds = bounds;
  const search::SearchResult result = search::find_plans(request);
  const auto legal = static_cast<std::int64_t>(brute.size());
  const auto fits = [](const BrutePlan& plan) { return plan.verdict == VerdictClass::fits; };
  const auto fitting = std::count_if(brute.begin(), brute.end(), fits);
  RC_ASSERT(result.counts.candidates == candidates_of(search::Space(request.space)));
  RC_ASSERT(result.counts.illegal == result.counts.candidates - legal);
  // Placement is looked at only for plans that are among the fastest.
  const search::Rejection* fragmented = rejection(result, "fragmentation");
  const std::int64_t fragments = fragmented == nullptr ? 0 : fragmented->count;
  RC_ASSERT(result.counts.does_not_fit - fragments == legal - fitting);
  RC_ASSERT(result.counts.pruned + result.counts.evaluated + fragments == fitting);

  std::int64_t misses = 0;
  std::int64_t least_missing = 0;
  for (const BrutePlan& plan : brute) {
    if (plan.missing_bytes <= 0) continue;
    if (misses++ == 0 || plan.missing_bytes < least_missing) least_missing = plan.missing_bytes;
  }
  const search::Rejection* missed = rejection(result, "device_memory");
  RC_ASSERT((missed == nullptr ? 0 : missed->count) == misses);
  if (missed != nullptr) RC_ASSERT(missed->nearest->missing_bytes == least_missing);

  std::erase_if(brute, [&](const BrutePlan& plan) {
    return !fits(plan) || !test::placement_fits(problem, plan.plan);
  });
  std::sort(brute.begin(), brute.end(), [](const BrutePlan& a, const BrutePlan& b) {
    return a.step_seconds != b.step_seconds ? a.step_seconds < b.step_seconds
                                            : a.candidate < b.candidate;
  });
  RC_ASSERT(result.plans.size() == std::min<std::size_t>(request.best, brute.size()));
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    RC_LOG() << to_string(result.plans[i].plan) << " " << result.plans[i].step_seconds << "\n"
             << to_string(brute[i].plan) << " " << brute[i].step_seconds << "\n";
    // Sums in another order may differ in the last digits, and swap plans that tie.
    const double difference = result.plans[i].step_seconds - brute[i].step_seconds;
    RC_ASSERT(std::abs(difference) <= 1e-12 * brute[i].step_seconds);
  }
}

RC_GTEST_PROP(Search, EqualsBruteForceWithFullReplay, ()) {
  // From hardly any plan that fits to all of them.
  SmallProblem problem(
      test::pick<std::string>({"llama", "gpt2", "mixtral"}),
      test::pick<std::string>(plan::profile_names()),
      {.devices = test::pick<std::int64_t>({1, 2, 4, 8}),
       .batch = test::pick<std::int64_t>({8, 12, 16}),
       .usable = test::pick<std::int64_t>({30'000, 60'000, 100'000, 200'000, 10'000'000})});
  plan::PlanRequest& given = problem.request().space.plan;
  if (problem.profile().can("pp")) {
    given.pp = test::pick<std::optional<std::int64_t>>({std::nullopt, 1, 2});
  }
  using Offloaded = std::optional<plan::ActivationOffload>;
  if (problem.profile().can("offload") && given.pp != 2) {
    given.activation_offload =
        test::pick<Offloaded>({std::nullopt, plan::ActivationOffload::residual});
  }
  given.first_moment = test::pick<std::optional<plan::MomentFormat>>(
      {std::nullopt, plan::MomentFormat::bf16, plan::MomentFormat::fp8});
  if (problem.profile().can("mtp")) {
    given.prediction_layers = test::pick<std::optional<std::int64_t>>({std::nullopt, 1});
  }
  if (problem.profile().can("hsdp")) {
    given.shard_groups = test::pick<std::optional<std::int64_t>>({std::nullopt, 2});
  }
  if (*rc::gen::element(0, 1) == 1) problem.request().capacity.host_bytes = Bytes(40'000);
  check(problem, search::Bounds::on);
  check(problem, search::Bounds::off);
}

// What the search takes for exact and for a bound, on random plans of its space.
RC_GTEST_PROP(Search, ScoresAreNeverAboveTheReplay, ()) {
  SmallProblem problem(
      test::pick<std::string>({"llama", "gpt2", "mixtral"}),
      test::pick<std::string>(plan::profile_names()),
      {.devices = test::pick<std::int64_t>({2, 4, 8}), .batch = 16, .usable = 10'000'000});
  plan::PlanRequest& given = problem.request().space.plan;
  if (problem.profile().can("mtp")) given.prediction_layers = test::pick<int>({0, 1, 2});
  const search::Space space(problem.request().space);
  const auto scored = search::score_all(problem.request());
  for (int draw = 0; draw < 20; ++draw) {
    const search::ScoredCandidate& one = test::pick(scored);
    const plan::Plan plan = search::plan_of(one.candidate, space);
    const auto& config = *problem.request().space.config;
    RC_ASSERT(one.live_peak_bytes ==
              predict::predict_memory(config, plan, problem.profile()).allocated_bytes.count());
    const double seconds =
        predict::predict_time(config, plan, problem.profile(), problem.request().cluster)
            .step_seconds;
    RC_ASSERT(one.least_seconds <= seconds * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace fourhold

#include "fourhold/search/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fourhold/base/error.h"
#include "fourhold/model/load_model.h"

namespace fourhold {
namespace {

struct Fixture {
  model::ModelConfig config;
  plan::Profile profile;
  search::SpaceRequest request;

  Fixture(const std::string& model, const std::string& profile_name, std::int64_t devices)
      : config(model::load_model(model)), profile(plan::load_profile(profile_name)) {
    request.config = &config;
    request.profile = &profile;
    request.plan.count = devices;
    request.plan.seq = 2048;
    request.plan.global_batch = 1536;
    request.devices_per_node = 8;
  }
};

std::int64_t full_candidates(const search::Space& space) {
  std::int64_t count = 0;
  for (const search::OuterTuple& outer : space.outer_tuples()) {
    if (!space.illegal(outer)) count += space.candidates(outer);
  }
  return count;
}

// GPT-3: 96 layers, 96 heads; tp in {1, 2, 3, 4, 6, 8}, pp in 1..96, cp in {1, 2, 4, 8}: 2304 outer
// tuples. On 4096 = 2^12 devices only powers of two divide: tp 4 x pp 7 (1..64) x cp 4 = 112, of
// which dp = 4096 / (tp pp cp) divides 1536 = 3 x 2^9 where tp pp cp >= 8: 102 (of the ten others
// (tp, pp, cp) multiply to 1, 2 or 4: 1 + 3 + 6).
TEST(Space, OfGpt3HasTheOuterTuplesCountedByHand) {
  const Fixture gpt3("gpt3-175b", "standard", 4096);
  const search::Space space(gpt3.request);
  const auto tuples = space.outer_tuples();
  EXPECT_EQ(tuples.size(), 2304U);
  EXPECT_EQ(std::count_if(tuples.begin(), tuples.end(),
                          [&](const auto& outer) { return !space.illegal(outer); }),
            102);
}

// Of one outer tuple: tp 8, pp 64, cp 1 on 4096 leaves dp 8 and 192 sequences each, 14 divisors;
// 96 layers do not divide by 64, so vpp 1; ceil(96 / 64) = 2, so none, selective, full, full:1;
// 1 x 4 x 14 x 4 x 4 = 896.
TEST(Space, OfOneOuterTupleIsTheProductOfItsChoices) {
  const Fixture gpt3("gpt3-175b", "standard", 4096);
  const search::Space space(gpt3.request);
  EXPECT_EQ(space.candidates({.tp = 8, .pp = 64, .cp = 1, .ep = 1, .dp = 8}), 896);
  // pp 8: 12 = 96 / 8 layers a stage, vpp in {1, 2, 3, 4, 6, 12}; dp 64 leaves 24 sequences with 8
  // divisors; 3 + 11 recompute choices: 6 x 4 x 8 x 14 x 4.
  EXPECT_EQ(space.candidates({.tp = 8, .pp = 8, .cp = 1, .ep = 1, .dp = 64}), 10752);
}

TEST(Space, OfGpt3HasAsManyCandidatesAsTheDesignSays) {
  const Fixture on_4096("gpt3-175b", "standard", 4096);
  EXPECT_EQ(full_candidates(search::Space(on_4096.request)), 1'209'216);
  const Fixture on_64("gpt3-175b", "standard", 64);
  EXPECT_EQ(full_candidates(search::Space(on_64.request)), 3'265'216);
}

TEST(Space, IsNarrowedByWhatIsGivenAndByTheProfile) {
  Fixture gpt3("gpt3-175b", "standard", 64);
  gpt3.request.plan.tp = 8;
  gpt3.request.plan.zero = 1;
  gpt3.request.plan.offload = plan::Offload::none;
  const search::Space given(gpt3.request);
  for (const search::OuterTuple& outer : given.outer_tuples()) EXPECT_EQ(outer.tp, 8);
  EXPECT_EQ(given.zeros(), std::vector<int>{1});
  EXPECT_EQ(given.offloads().size(), 1U);

  const Fixture fsdp("gpt3-175b", "llm-foundry", 64);  // shards the state and splits nothing
  const search::Space shards(fsdp.request);
  const auto tuples = shards.outer_tuples();
  ASSERT_EQ(tuples.size(), 1U);
  EXPECT_EQ(tuples[0], (search::OuterTuple{1, 1, 1, 1, 64}));
}

TEST(Space, RefusesAGivenSplitThatNoPlanCanHave) {
  Fixture gpt3("gpt3-175b", "standard", 64);
  gpt3.request.plan.tp = 5;
  try {
    const search::Space space(gpt3.request);
    FAIL() << "tp 5 of 96 heads";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "tp");
  }
}

TEST(Space, NamesWhyAnOuterTupleIsNone) {
  const Fixture mixtral("mixtral-8x7b", "standard", 64);
  search::SpaceRequest request = mixtral.request;
  request.plan.global_batch = 48;
  const search::Space space(request);
  using search::Illegal;
  EXPECT_EQ(space.illegal({.tp = 8, .pp = 3, .cp = 1, .ep = 1, .dp = 0}), Illegal::devices);
  EXPECT_EQ(space.illegal({.tp = 1, .pp = 1, .cp = 1, .ep = 1, .dp = 64}), Illegal::global_batch);
  EXPECT_EQ(space.illegal({.tp = 8, .pp = 4, .cp = 1, .ep = 8, .dp = 2}), Illegal::experts);
  EXPECT_EQ(space.illegal({.tp = 8, .pp = 1, .cp = 1, .ep = 8, .dp = 8}), std::nullopt);
}

}  // namespace
}  // namespace fourhold

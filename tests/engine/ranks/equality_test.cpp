// Every split trains what one rank trains, and holds and sends what was predicted.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/engine/ranks/ranks_program.h"

namespace fourhold {
namespace {

// fp32 sums in another order: what the issue of a loss per step allows.
constexpr double kTolerance = 1e-5;

struct Split {
  const char* name;
  int ranks;
  const char* options;
};
void PrintTo(const Split& split, std::ostream* out) { *out << split.name; }

class Splits : public RanksProgram, public ::testing::WithParamInterface<Split> {};

TEST_P(Splits, TrainAsOneRankDoes) {
  const Split& split = GetParam();
  const std::string batch = "--lr 1e-3 --steps 6 --batch 1 --global-batch 8 ";
  const json::Value one = answer(1, batch);
  const json::Value several = answer(split.ranks, batch + split.options);
  ASSERT_FALSE(one.is_null() || several.is_null());
  expect_losses(losses_of(several), losses_of(one), kTolerance);
  EXPECT_LT(losses_of(one).back(), losses_of(one).front()) << "it learns";
  expect_predicted_bytes(several, split.ranks);
  expect_predicted_bytes(one, 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, Splits,
    ::testing::Values(Split{"dp2", 2, "--dp 2"}, Split{"dp2_zero1", 2, "--zero 1"},
                      Split{"dp2_zero2", 2, "--zero 2"}, Split{"dp2_zero3", 2, "--zero 3"},
                      Split{"tp2_sp", 2, "--tp 2 --sp on"}, Split{"pp2", 2, "--pp 2"},
                      Split{"cp2", 2, "--cp 2"}, Split{"tp2_sp_pp2", 4, "--tp 2 --sp on --pp 2"},
                      Split{"zero3_cp2", 4, "--zero 3 --cp 2"},
                      Split{"interleaved_zero1", 4,
                            "--pp 2 --vpp 2 --schedule interleaved --zero 1"}),
    [](const auto& split) { return std::string(split.param.name); });

// Ranks that have no sequence left, of a number that does not divide among them, and one log.
TEST_F(RanksProgram, HeldOutLossesAndTheLogAreThoseOfOneRank) {
  // 1,051,891 bytes make 32,871 sequences of 32; 0.002 of them is 65, or 21 rounds of 3 and 2.
  const auto held_out = [this](int ranks) {
    const Ended ended =
        run(on_ranks(ranks, "train " + path("config.json") +
                                " --device none --threads 1 --precision fp32 --seq 32 --lr 1e-3 "
                                "--steps 4 --batch 1 --global-batch 6 --held-out 0.002 "
                                "--evaluate-every 2 --json --out " +
                                path("run-" + std::to_string(ranks))));
    EXPECT_EQ(ended.code, 0) << ended.err;
    for (int step = 1; step <= 4; ++step) {
      EXPECT_EQ(times(ended.err, "step " + std::to_string(step) + "/4 "), 1) << ended.err;
    }
    return json::parse(ended.out, "standard output");
  };
  const json::Value one = held_out(1);
  const json::Value three = held_out(3);
  const double expected = at(one, {"loss", "held_out"}).number();
  EXPECT_NEAR(at(three, {"loss", "held_out"}).number(), expected, kTolerance * expected);
  EXPECT_EQ(times(text_of(path("run-3/log.jsonl")), "\n"), 4) << "a line a step, from one rank";
}

}  // namespace
}  // namespace fourhold

// Starts that would train something else than was asked are refused, once, before anything is made.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/engine/ranks/ranks_program.h"

namespace fourhold {
namespace {

struct Refusal {
  const char* name;
  int ranks;
  const char* options;
  const char* said;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class Refusals : public RanksProgram, public ::testing::WithParamInterface<Refusal> {};

TEST_P(Refusals, AreSaidOnceAndLeaveNothing) {
  const Refusal& refusal = GetParam();
  const Ended ended =
      train(refusal.ranks, "--lr 1e-3 --steps 2 --out " + path("run") + " " + refusal.options);
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(times(ended.err, refusal.said), 1) << ended.err;
  EXPECT_EQ(times(ended.err, "fourhold:"), 1) << ended.err;
  EXPECT_EQ(times(ended.err, "hint:"), 1) << ended.err;
  EXPECT_TRUE(complete_steps(path("run")).empty());
  EXPECT_EQ(text_of(path("run/log.jsonl")), "");
}

// Two of them would write two texts into one.
TEST_F(RanksProgram, WhatOneProcessDoesIsRefusedToSeveral) {
  for (const char* words : {"sample run --prompt a", "tokenize text.txt -o tokens.bin",
                            "stall model.safetensors --lr 1e-3"}) {
    const Ended ended = run(on_ranks(2, words + (" # " + folder())));
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(times(ended.err, "runs as one process, and a launcher has started 2"), 1)
        << ended.err;
  }
}

TEST_F(RanksProgram, WhatEveryRankAnswersAlikeIsPrintedOnce) {
  const auto once = [this](const std::string& words, int code, const std::string& said) {
    const Ended ended = run(on_ranks(3, words + (" # " + folder())));
    EXPECT_EQ(ended.code, code) << words << ended.err;
    EXPECT_EQ(times(ended.out + ended.err, said), 1) << words << "\n" << ended.out << ended.err;
  };
  once("--version", 0, "fourhold 0.");
  once("train --help", 0, "fourhold train MODEL [PLAN_FILE]");
  once("params gpt2 --json", 0, "fourhold.params/1");
  once("fit nowhere --device h100", 2, "hint:");
}

INSTANTIATE_TEST_SUITE_P(
    Of, Refusals,
    ::testing::Values(
        Refusal{"four_ranks_on_two", 2, "--batch 1 --dp 4", "says 4 ranks, and there are 2"},
        Refusal{"one_rank_on_two", 2, "--batch 1 --count 1", "says 1 rank, and there are 2"},
        Refusal{"four_ranks_alone", 1, "--batch 1 --dp 4", "says 4 ranks, and there is 1"},
        Refusal{"words", 3, "--bacth 1", "did you mean '--batch'?"},
        Refusal{"values", 3, "--batch none", "'none' is not a number"},
        Refusal{"data", 3, "--batch 1 --data /nowhere/tokens.bin", "/nowhere/tokens.bin"},
        Refusal{"split", 3, "--batch 1 --tp 3", "tp: 3 does not divide the 4 attention heads"}),
    [](const auto& refusal) { return std::string(refusal.param.name); });

}  // namespace
}  // namespace fourhold

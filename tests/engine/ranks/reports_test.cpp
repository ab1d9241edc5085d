// Field reports of splits that go wrong elsewhere, on this program (their numbers are the
// reports').
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/engine/ranks/ranks_program.h"

namespace fourhold {
namespace {

using Reports = RanksProgram;

// The fullest rank's live peak, in bytes.
double peak_of(const json::Value& answer) {
  double peak = 0;
  for (const json::Value& rank : at(answer, {"ranks"}).array()) {
    peak = std::max(peak, at(rank, {"ledger", "measured", "live_peak_bytes"}).number());
  }
  return peak;
}

// R029: in a pipeline of eight stages the peak grew with the number of micro-batches, because each
// kept a gradient of its own. Here gradients are added in place: from the first micro-batch behind
// the ramp on, any number holds the same, to the byte. Eight hold less: all eight of the first
// stage are in flight but once, when the first backward reaches attention, and what comes before it
// has no gradient yet: q, k and v with their biases, the first norm, tokens' and positions'
// embeddings.
TEST_F(Reports, ThePeakOfAPipelineDoesNotGrowWithTheMicroBatches) {
  constexpr int kWidth = 32;
  use_model({.layers = 8, .width = kWidth});
  std::vector<double> peaks;
  for (const char* micro_batches : {"8", "9", "16", "32"}) {
    const json::Value answer = this->answer(
        8, std::string("--pp 8 --batch 1 --lr 1e-3 --steps 2 --grad-accum ") + micro_batches);
    expect_predicted_bytes(answer, 8);
    peaks.push_back(peak_of(answer));
  }
  constexpr double kBeforeAttention = 3 * (kWidth * kWidth + kWidth) + 2 * kWidth +
                                      (TinyModel::kVocabulary + TinyModel::kPositions) * kWidth;
  EXPECT_EQ(peaks[1] - peaks[0], 4 * kBeforeAttention);  // in fp32: 54,272 bytes
  EXPECT_EQ(peaks[2], peaks[1]);
  EXPECT_EQ(peaks[3], peaks[1]);
}

// R029's input, and one id more for the built-in text: a Llama on two stages, whose ramp is over
// with two micro-batches.
TEST_F(Reports, ThePeakOfTheReportedModelIsTheSameForFourToSixteenMicroBatches) {
  std::ofstream(path("config.json"))
      << R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,)"
      << R"("num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 257})";
  std::vector<double> peaks;
  for (const char* micro_batches : {"4", "8", "16"}) {
    const json::Value answer = this->answer(
        2, std::string("--pp 2 --batch 1 --lr 1e-3 --steps 2 --grad-accum ") + micro_batches);
    expect_predicted_bytes(answer, 2);
    peaks.push_back(peak_of(answer));
  }
  EXPECT_EQ(peaks, std::vector<double>(3, peaks.front()));
}

// R030: most ranks of a pipeline have no loss. The report has the real one.
TEST_F(Reports, ThePrintedLossIsThatOfTheLastStage) {
  const std::vector<double> losses =
      losses_of(answer(2, "--pp 2 --batch 1 --grad-accum 4 --lr 1e-3 --steps 2"));
  expect_losses(losses, losses_of(answer(1, "--batch 1 --grad-accum 4 --lr 1e-3 --steps 2")), 1e-5);
}

// R085: a vocabulary that eight ranks pad is stored with its own rows, and read back by one.
TEST_F(Reports, AVocabularyPaddedForEightRanksIsStoredWithoutPadding) {
  use_model({.layers = 2, .width = 64, .heads = 8});
  const std::string common = "--batch 1 --global-batch 2 --lr 1e-3 --out " + path("run");
  const json::Value split = answer(8, "--tp 8 --grad-accum 2 --steps 1 " + common);
  const std::uintmax_t bytes =
      std::filesystem::file_size(path("run/step-00000001/model.safetensors"));
  const json::Value alone = answer(1, "--steps 2 --resume auto --grad-accum 2 " + common);
  EXPECT_EQ(std::filesystem::file_size(path("run/step-00000002/model.safetensors")), bytes);
  const json::Value undisturbed = answer(1, "--batch 1 --grad-accum 2 --lr 1e-3 --steps 2");
  std::vector<double> losses = losses_of(split);
  losses.push_back(losses_of(alone).back());
  expect_losses(losses, losses_of(undisturbed), 1e-5);
}

// R092: a sequence that ranks cannot cut into equal pieces is refused, not shortened.
TEST_F(Reports, ASequenceThatRanksCannotShareIsRefused) {
  for (const char* seq : {"10", "2", "31"}) {
    const Ended ended = run(
        on_ranks(3, "train " + path("config.json") +
                        " --cp 3 --batch 1 --steps 1 --lr 1e-3 --device none --json --seq " + seq));
    EXPECT_EQ(ended.code, 2) << seq;
    EXPECT_EQ(times(ended.err, "fourhold: "), 1) << ended.err;
    EXPECT_EQ(times(ended.err, "equal pieces"), 1) << ended.err;
    EXPECT_TRUE(ended.out.empty());
  }
}

}  // namespace
}  // namespace fourhold

// Which split cures which failure of memory, on runs that hold to --memory.
//
// It is a rank's whole memory: 300 MiB beside the arena are kept for the rest of the process, so
// limits here are those and what the arena is to have.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/engine/ranks/ranks_program.h"

namespace fourhold {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kBesideArena = 300 * kMiB;

class Lesson : public RanksProgram {
 protected:
  // One step with so much for each rank's arena.
  [[nodiscard]] static std::string step(std::int64_t arena_mib, const std::string& options) {
    return fmt::format("--lr 1e-3 --steps 1 --memory {}MiB {}", 300 + arena_mib, options);
  }
  void expect_refusal(int ranks, const std::string& options, const std::string& verdict) const {
    const Ended ended = train(ranks, options);
    EXPECT_EQ(ended.code, 1) << options << "\n" << ended.err;
    EXPECT_EQ(times(ended.err, "fourhold: --memory: " + verdict + ": "), 1) << options << "\n"
                                                                            << ended.err;
    EXPECT_EQ(ended.out, "");
  }
  void expect_fit(int ranks, std::int64_t arena_mib, const std::string& options) const {
    const json::Value result = answer(ranks, step(arena_mib, options));
    ASSERT_FALSE(result.is_null());
    expect_predicted_bytes(result, ranks);
    for (const json::Value& rank : at(result, {"ranks"}).array()) {
      EXPECT_LE(at(rank, {"ledger", "measured", "reserved_bytes"}).integer(), arena_mib * kMiB);
    }
    EXPECT_LE(at(result, {"process", "outside_arena_bytes"}).integer(), kBesideArena);
  }
};

// 6.4 million parameters in fp32: 4 bytes of weight, 4 of gradient and 8 of moments each are
// 97.7 MiB on every replica; over 4 ranks ZeRO-1 leaves 10 of these 16 bytes (61.0 MiB), ZeRO-2 at
// most 7 and a layer's gradient, ZeRO-3 4 (24.4 MiB) and the layers it has gathered.
TEST_F(Lesson, AStateFailureIsCuredByZeroAndNotByReplicas) {
  const TinyModel model{.layers = 8, .width = 256};
  use_model(model);
  ASSERT_EQ(model.parameters(), 6'401'280);
  ASSERT_GT(16 * model.parameters(), 80 * kMiB);
  ASSERT_GT(10 * model.parameters(), 55 * kMiB);
  expect_refusal(1, step(80, "--batch 1"), "the state does not fit");
  expect_refusal(4, step(80, "--batch 1 --dp 4"), "the state does not fit");
  for (const int zero : {1, 2, 3}) {
    SCOPED_TRACE(zero);
    expect_fit(4, 80, fmt::format("--batch 1 --dp 4 --zero {}", zero));
  }
  expect_refusal(4, step(55, "--batch 1 --dp 4 --zero 1"), "the state does not fit");
  expect_fit(4, 55, "--batch 1 --dp 4 --zero 2");
}

// At the peak of a step, per rank. The gradient of the layer that is being computed stands whole
// beside the rank's share of the others.
TEST_F(Lesson, StateUnderZero3FallsWithTheRanksAndActivationsStay) {
  const TinyModel model{.layers = 4, .width = 128};
  use_model(model);
  const std::int64_t weight_bytes = 4 * model.parameters();
  const std::int64_t layer_bytes =
      4 * std::int64_t{model.width} * (12 * std::int64_t{model.width} + 13);
  std::int64_t activations = 0;
  for (const int ranks : {1, 2, 4}) {
    SCOPED_TRACE(ranks);
    const std::string split = ranks == 1 ? "" : "--zero 3";
    const json::Value result = answer(ranks, "--lr 1e-3 --steps 1 --batch 16 " + split);
    ASSERT_FALSE(result.is_null());
    expect_predicted_bytes(result, ranks);
    for (const json::Value& rank : at(result, {"ranks"}).array()) {
      const auto bytes = [&rank](const char* category) {
        return at(rank, {"ledger", "measured", "by_category", category}).integer();
      };
      EXPECT_EQ(bytes("weight"), weight_bytes / ranks);
      EXPECT_EQ(bytes("optimizer_state"), 2 * weight_bytes / ranks);
      EXPECT_EQ(bytes("master_weight"), 0);
      EXPECT_LE(bytes("gradient"), weight_bytes / ranks + layer_bytes);
      if (activations == 0) activations = bytes("saved_activation");
      EXPECT_EQ(bytes("saved_activation"), activations);
    }
  }
  EXPECT_GT(activations, weight_bytes) << "they are what stays";
}

// 16 bytes of 0.42 million parameters are little; what is saved of 2,048 tokens for backward is
// not. A stage of two holds half the layers' of it, a replica all.
TEST_F(Lesson, AnActivationFailureIsCuredByStagesAndNotByReplicas) {
  const TinyModel model{.layers = 8, .width = 64};
  use_model(model);
  ASSERT_LT(16 * model.parameters(), 7 * kMiB);
  expect_refusal(1, step(50, "--batch 64"), "the activations do not fit");
  expect_refusal(2, step(50, "--batch 64 --dp 2"), "the activations do not fit");
  expect_refusal(2, step(50, "--batch 64 --zero 3"), "the activations do not fit");
  expect_fit(2, 50, "--batch 64 --pp 2");
}

// Where one rank has room for all, more ranks win speed, and never as many times of it as they are:
// they sum gradients. Four on what may be fewer cores, so that no disturbance makes the run on one
// rank look four times as long.
TEST_F(Lesson, WhenAllFitsTheSpeedUpKeptIsReportedAndBelowTheRanks) {
  constexpr int kRanks = 4;
  const auto words = [this](const std::string& options) {
    return "train " + path("config.json") +
           " --threads 1 --precision fp32 --seq 32 --held-out 0 --lr 1e-3 --steps 9 --batch 2 "
           "--global-batch 8 --memory 400MiB " +
           options;
  };
  const auto run_json = [&](int ranks, const std::string& options) {
    const Ended ended = run(on_ranks(ranks, words("--json " + options)));
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::ofstream(path(fmt::format("answer-{}.json", ranks))) << ended.out;
    return json::parse(ended.out, "standard output");
  };
  const json::Value one = run_json(1, "");
  for (const char* name : {"predicted_speedup", "predicted_speedup_kept", "measured_speedup",
                           "measured_speedup_kept"}) {
    EXPECT_TRUE(at(one, {"speed", name}).is_null()) << name;
  }
  const std::string over_one = "--dp 4 --one-rank " + path("answer-1.json");
  const json::Value four = run_json(kRanks, over_one);
  const auto speed = [](const json::Value& answer, const char* name) {
    return at(answer, {"speed", name}).number();
  };
  EXPECT_DOUBLE_EQ(speed(four, "measured_speedup"),
                   speed(one, "measured_step_seconds") / speed(four, "measured_step_seconds"));
  for (const std::string how : {"predicted", "measured"}) {
    SCOPED_TRACE(how);
    const double speedup = speed(four, (how + "_speedup").c_str());
    EXPECT_GT(speedup, 0);
    EXPECT_LT(speedup, kRanks);
    EXPECT_DOUBLE_EQ(speed(four, (how + "_speedup_kept").c_str()), speedup / kRanks);
  }
  const Ended text = run(on_ranks(kRanks, words(over_one)));
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(times(text.out, "% predicted, "), 1) << text.out;
  EXPECT_EQ(times(text.out, "% measured of 4 times the speed of one rank"), 1) << text.out;

  // As `predict` says it beforehand, of the ranks and links as they were measured.
  const Ended measured =
      run(on_ranks(kRanks, "measure --quick --threads 1 -o " + path("device.json")));
  ASSERT_EQ(measured.code, 0) << measured.err;
  const Ended beforehand =
      run(on_ranks(1, "predict " + path("config.json") + " --device " + path("device.json") +
                          " --profile fourhold --precision fp32 --seq 32 --batch 2 "
                          "--global-batch 8 --dp 4 --tokens 1e6 --json"));
  ASSERT_EQ(beforehand.code, 0) << beforehand.err;
  const json::Value predicted = json::parse(beforehand.out, "standard output");
  const double speedup = at(predicted, {"run", "speedup"}).number();
  EXPECT_GT(speedup, 0);
  EXPECT_LT(speedup, kRanks);
  EXPECT_DOUBLE_EQ(at(predicted, {"run", "speedup_kept"}).number(), speedup / kRanks);

  const Ended of_four = run(on_ranks(2, words("--dp 2 --one-rank " + path("answer-4.json"))));
  EXPECT_EQ(of_four.code, 2) << of_four.err;
  EXPECT_EQ(times(of_four.err, "--one-rank"), 1) << of_four.err;
  EXPECT_EQ(times(of_four.err, "is of 4 ranks"), 1) << of_four.err;
  use_model({.layers = 1});
  const Ended of_another = run(on_ranks(kRanks, words(over_one)));
  EXPECT_EQ(of_another.code, 2) << of_another.err;
  EXPECT_EQ(times(of_another.err, "is of a model of "), 1) << of_another.err;
}

}  // namespace
}  // namespace fourhold

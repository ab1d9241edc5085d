#include "fourhold/engine/checkpoint/run_state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "fourhold/base/error.h"
#include "tests/engine/checkpoint/tiny_models.h"

namespace fourhold::engine {
namespace {

RunState some_state() {
  RunState state;
  state.step = 100;
  state.seed = -7;
  state.tokens_seen = 1LL << 40;
  state.precision = "bf16";
  state.optimizer = "adamw";
  state.data = "00000000000000aa";
  state.data_position = json::Object{{"epoch", 2}, {"sequence", 12345}};
  state.tokenizer = "bytes";
  state.schedule = json::Object{{"peak", 6e-4}, {"warmup", 10}};
  state.plan = json::Object{{"dp", 2}};
  state.versions = json::Object{{"fourhold", "0.1.0"}};
  state.losses = {10.5, 0.1, 1.0 / 3.0};
  return state;
}

TEST(RunState, ReadsBackAsItWas) {
  const RunState state = some_state();
  const RunState read = parse_run_state(write_run_state(state), "run.json");
  EXPECT_EQ(read.step, 100);
  EXPECT_EQ(read.seed, -7);
  EXPECT_EQ(read.tokens_seen, 1LL << 40);
  EXPECT_EQ(read.precision, "bf16");
  EXPECT_EQ(read.optimizer, "adamw");
  EXPECT_EQ(read.data, "00000000000000aa");
  EXPECT_TRUE(read.data_position == state.data_position);
  EXPECT_EQ(read.tokenizer, "bytes");
  EXPECT_TRUE(read.schedule == state.schedule);
  EXPECT_TRUE(read.plan == state.plan);
  EXPECT_TRUE(read.versions == state.versions);
  EXPECT_EQ(read.losses, state.losses);
}

TEST(RunState, WithoutATokenizerThereIsNone) {
  std::string text = write_run_state(some_state());
  const std::string member = R"("tokenizer": "bytes",)";
  const std::size_t at = text.find(member);
  ASSERT_NE(at, std::string::npos);
  text.erase(at, member.size());
  EXPECT_EQ(parse_run_state(text, "run.json").tokenizer, "");
}

RC_GTEST_PROP(RunState, LossesKeepEveryBit, (double loss)) {
  RC_PRE(std::isfinite(loss));
  RunState state = some_state();
  state.losses = {loss};
  RC_ASSERT(parse_run_state(write_run_state(state), "run.json").losses == state.losses);
}

TEST(RunState, ALossThatIsNotFiniteIsNotSaved) {
  RunState state = some_state();
  state.losses.push_back(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(static_cast<void>(write_run_state(state)), Error);
}

TEST(RunState, AnUnknownFieldIsRefusedByName) {
  std::string text = write_run_state(some_state());
  text.insert(1, "\"stepp\": 1,");
  try {
    static_cast<void>(parse_run_state(text, "run.json"));
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_NE((fault.where() + fault.what()).find("stepp"), std::string::npos);
  }
}

TEST(RunState, ARunResumesWithTheSameModelPrecisionAndOptimizerOnly) {
  const RunState saved = some_state();
  const model::ModelConfig model = tiny_llama();
  EXPECT_NO_THROW(
      check_resumable(saved, model, {model, "bf16", "adamw", saved.data}, "step-00000100"));
  try {
    check_resumable(saved, model, {model, "fp32", "sgd", saved.data}, "step-00000100");
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_STREQ(fault.what(),
                 "cannot be resumed: precision is bf16, here fp32; optimizer is adamw, here sgd");
    EXPECT_NE(fault.hint().find("--precision bf16 --optimizer adamw"), std::string::npos);
    EXPECT_NE(fault.hint().find("train step-00000100"), std::string::npos);
  }
  model::ModelConfig wider = model;
  wider.vocab = 12;
  try {
    check_resumable(saved, model, {wider, "bf16", "adamw", saved.data}, "step-00000100");
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_STREQ(fault.what(), "was saved with another model: vocab is 10, here 12");
  }
}

TEST(RunState, ARunResumesOnTheDataItWasTrainedOnOnly) {
  RunState saved = some_state();
  const model::ModelConfig model = tiny_llama();
  try {
    check_resumable(saved, model, {model, "bf16", "adamw", "00000000000000ab"}, "step-00000100");
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_STREQ(fault.what(),
                 "was trained on other data: its tokens have the hash 00000000000000aa, those of "
                 "--data 00000000000000ab");
    EXPECT_NE(fault.hint().find("train step-00000100"), std::string::npos);
  }
  saved.data = "";  // written before states knew their data
  EXPECT_NO_THROW(
      check_resumable(saved, model, {model, "bf16", "adamw", "00000000000000ab"}, "step"));
}

}  // namespace
}  // namespace fourhold::engine

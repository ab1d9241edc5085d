// How runs end: what is on the disk then, and what a signal cuts short.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/checkpoint_names.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "tests/engine/checkpoint/small_disk.h"
#include "tests/engine/train/small_training.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using testing::run;
using testing::small_training;

class Endings : public ::testing::Test {
 protected:
  [[nodiscard]] TrainSetup kept(std::int64_t steps) const {
    TrainSetup setup = small_training(plan::Precision::bf16, 1, steps);
    setup.checkpoints.folder = folder_.path() + "/run";
    return setup;
  }
  [[nodiscard]] std::string step_folder(std::int64_t step) const {
    return (fs::path(folder_.path()) / "run" / step_name(step)).string();
  }

  model::TestFolder folder_;
};

// A disk that had room when the run began.
TEST_F(Endings, ADiskThatFillsUpLeavesTheCheckpointBeforeWhole) {
  const testing::SmallDisk disk(folder_.path() + "/run", "16m");
  ASSERT_TRUE(disk.is_mounted()) << testing::kMountingTakesPrivileges;
  TrainSetup setup = kept(3);
  setup.checkpoints.save_every = 1;
  try {
    static_cast<void>(train(setup, {.note = [](const std::string&) {},
                                    .line =
                                        [&disk](const TrainLine& line) {
                                          if (line.step.step == 2) disk.fill();
                                        },
                                    .stop_asked = [] { return false; }}));
    ADD_FAILURE() << "nothing stopped it";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(is_complete(step_folder(1), Verify::contents));
  EXPECT_FALSE(fs::exists(step_folder(2)));
}

TEST_F(Endings, TheLastCheckpointIsWholeBeforeTheLastEvaluationBegins) {
  TrainSetup setup = kept(2);
  setup.data.held_out_share = 0.001;
  std::int64_t evaluated = 0;
  const TrainResult result = train(setup, {.note = [](const std::string&) {},
                                           .line = [](const TrainLine&) {},
                                           .stop_asked = [] { return false; },
                                           .evaluating =
                                               [&](std::int64_t done, std::int64_t whole) {
                                                 EXPECT_EQ(done, evaluated++);
                                                 EXPECT_GT(whole, 1);
                                                 EXPECT_TRUE(is_complete(step_folder(2)));
                                               }});
  EXPECT_GT(evaluated, 1);
  EXPECT_TRUE(result.held_out_loss.has_value());
}

TEST_F(Endings, ASignalEndsAnEvaluationBetweenTwoMicroBatches) {
  TrainSetup setup = kept(2);
  setup.data.held_out_share = 0.2;
  std::int64_t evaluated = 0;
  const TrainResult result = train(
      setup, {.note = [](const std::string&) {},
              .line = [](const TrainLine&) {},
              .stop_asked = [&] { return evaluated == 3; },
              .evaluating = [&](std::int64_t /*done*/, std::int64_t /*whole*/) { ++evaluated; }});
  EXPECT_EQ(evaluated, 3);
  EXPECT_TRUE(result.evaluation_stopped);
  EXPECT_FALSE(result.stopped_early);
  EXPECT_FALSE(result.held_out_loss.has_value());
  EXPECT_TRUE(is_complete(step_folder(2)));
}

TEST_F(Endings, ASignalBetweenStepsSavesAndEvaluatesNothing) {
  TrainSetup setup = kept(9);
  setup.data.held_out_share = 0.2;
  std::int64_t lines = 0;
  std::int64_t evaluated = 0;
  const TrainResult result = train(
      setup, {.note = [](const std::string&) {},
              .line = [&](const TrainLine&) { ++lines; },
              .stop_asked = [&] { return lines == 2; },
              .evaluating = [&](std::int64_t /*done*/, std::int64_t /*whole*/) { ++evaluated; }});
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(evaluated, 0);
  EXPECT_TRUE(is_complete(step_folder(2)));
}

TEST_F(Endings, ADamagedCheckpointDoesNotPushOutTheOneTheRunWentOnFrom) {
  TrainSetup first = kept(4);
  first.checkpoints.save_every = 2;
  static_cast<void>(run(first));
  const std::string weights = step_folder(4) + "/model.safetensors";
  {
    std::fstream file(weights, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(weights)) - 3);
    file.put('\x55');
  }
  ASSERT_FALSE(is_complete(step_folder(4), Verify::contents));
  TrainSetup second = kept(5);
  second.checkpoints.resume = "auto";
  second.checkpoints.keep = 2;
  EXPECT_EQ(run(second).first_step, 3);
  EXPECT_TRUE(is_complete(step_folder(2), Verify::contents));
  EXPECT_TRUE(is_complete(step_folder(5), Verify::contents));
  EXPECT_TRUE(fs::exists(step_folder(4)));
}

TEST_F(Endings, ALossThatIsNoNumberLeavesTheStepBeforeOnTheDisk) {
  TrainSetup setup = kept(40);
  setup.options.schedule.peak = setup.options.schedule.minimum = 1e5;
  setup.options.clip_norm = 0;
  std::int64_t done = 0;
  try {
    static_cast<void>(train(setup, {.note = [](const std::string&) {},
                                    .line = [&](const TrainLine& line) { done = line.step.step; },
                                    .stop_asked = [] { return false; }}));
    FAIL() << "a rate of 100,000 must diverge";
  } catch (const Error& fault) {
    EXPECT_EQ(fault.exit_code(), ExitCode::answer_is_no);
  }
  ASSERT_GT(done, 0);
  EXPECT_TRUE(is_complete(step_folder(done), Verify::contents));
}

TEST_F(Endings, AResumptionWithMoreStepsSaysSo) {
  static_cast<void>(run(kept(2)));
  TrainSetup more = kept(3);
  more.checkpoints.resume = "auto";
  std::vector<std::string> notes;
  static_cast<void>(train(more, {.note = [&](const std::string& text) { notes.push_back(text); },
                                 .line = [](const TrainLine&) {},
                                 .stop_asked = [] { return false; }}));
  const std::string wanted = "note: --steps was 2, is 3";
  EXPECT_EQ(std::count(notes.begin(), notes.end(), wanted), 1);
}

// Weights of a save that was cut short are no more a start than they are a checkpoint to resume.
TEST_F(Endings, WeightsOfAnUnfinishedSaveAreNoStart) {
  static_cast<void>(run(kept(1)));
  fs::remove(fs::path(step_folder(1)) / std::string(kMarkerName));
  TrainSetup setup = small_training(plan::Precision::bf16, 1, 1);
  setup.checkpoints.weights = step_folder(1);
  try {
    static_cast<void>(run(setup));
    FAIL() << "nothing says that they are whole";
  } catch (const Error& fault) {
    EXPECT_NE(std::string(fault.what()).find("its save was not finished"), std::string::npos);
  }
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/confidence/own_runs.h"

#include <cmath>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::confidence {
namespace {

OwnRun run(std::string plan, std::optional<double> memory, std::optional<double> step) {
  return {.profile = "p",
          .device = "d",
          .model = "m",
          .plan = std::move(plan),
          .memory_ratio = memory,
          .step_ratio = step};
}

TEST(OwnRuns, CorrectByTheGeometricMeanOfTheRuns) {
  OwnRuns runs;
  runs.add(run("one", 0.8, 1.5), "here");
  runs.add(run("two", 1.25, std::nullopt), "here");
  const Corrections corrections = runs.corrections("p", "d");
  EXPECT_NEAR(corrections.memory.factor, 1, 1e-15);  // 0.8 x 1.25
  EXPECT_EQ(corrections.memory.runs, 2);
  EXPECT_NEAR(corrections.step.factor, 1.5, 1e-15);
  EXPECT_EQ(to_string(corrections), "memory x1.000 (2 runs), step x1.500 (1 run)");
  EXPECT_FALSE(runs.corrections("p", "another").any());
}

TEST(OwnRuns, ASecondRunOfOnePlanJoinsTheFirst) {
  OwnRuns runs;
  runs.add(run("one", 2.0, 3.0), "here");
  runs.add(run("one", 0.5, std::nullopt), "here");
  EXPECT_EQ(runs.corrections("p", "d").memory.runs, 2);
  EXPECT_NEAR(runs.corrections("p", "d").memory.factor, 1, 1e-15);  // 2 x 0.5
  EXPECT_NEAR(runs.corrections("p", "d").step.factor, 3, 1e-15);
}

TEST(OwnRuns, RunsOfThePlanItselfComeBeforeTheMeanOfAll) {
  OwnRuns runs;
  runs.add(run("one", 2.0, std::nullopt), "here");
  runs.add(run("two", 0.5, 1.5), "here");
  const Corrections of_one = runs.corrections_of({"p", "d", "m", "one"});
  EXPECT_NEAR(of_one.memory.factor, 2, 1e-15);
  EXPECT_NEAR(of_one.step.factor, 1.5, 1e-15);  // of all: it has none of its own
  EXPECT_EQ(runs.corrections_of({"p", "d", "m", "three"}), runs.corrections("p", "d"));
}

TEST(OwnRuns, TheSameObservationCountsOnce) {
  OwnRuns runs;
  runs.add(run("one", 2.0, 3.0), "here");
  runs.add(run("one", 2.0, 3.0), "here");
  EXPECT_EQ(runs.runs().size(), 1U);
}

TEST(OwnRuns, ANamedRunTakesThePlaceOfItsEarlierSelf) {
  OwnRuns runs;
  runs.put(run("row 1", 2.0, 3.0), "here");
  runs.put(run("row 2", 2.0, std::nullopt), "here");
  runs.put(run("row 1", 0.5, std::nullopt), "here");
  EXPECT_EQ(runs.runs().size(), 2U);
  EXPECT_NEAR(runs.corrections("p", "d").memory.factor, 1, 1e-15);
  EXPECT_EQ(runs.corrections("p", "d").step.runs, 0);
}

TEST(OwnRuns, RefuseWhatCannotBeTheSameRun) {
  OwnRuns runs;
  EXPECT_THROW(runs.add(run("one", 5.1, std::nullopt), "here"), Error);
  EXPECT_THROW(runs.add(run("one", std::nullopt, 0.19), "here"), Error);
  EXPECT_TRUE(runs.runs().empty());
}

TEST(OwnRuns, AreReadAsTheyAreWritten) {
  OwnRuns runs;
  runs.add(run("one", 1.031, 0.94), "here");
  const std::string text = json::write(to_json(runs));
  EXPECT_EQ(json::write(to_json(parse_own_runs(text, "file"))), text);
}

TEST(OwnRuns, ADamagedFileIsRefused) {
  for (const char* text :
       {"", "{}", R"({"schema": "fourhold.calibration/2", "runs": []})",
        R"({"schema": "fourhold.calibration/1", "runs": [{"profile": "p", "device": "d",
            "model": "m", "plan": "x"}]})",
        R"({"schema": "fourhold.calibration/1", "runs": [{"profile": "p", "device": "d",
            "model": "m", "plan": "x", "step_ratio": 9}]})"}) {
    try {
      static_cast<void>(parse_own_runs(text, "file"));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.where().substr(0, 4), "file");
    }
  }
}

}  // namespace
}  // namespace fourhold::confidence

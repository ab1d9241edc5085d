#include "fourhold/confidence/observation.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::confidence {
namespace {

TEST(Observation, ReadsKeysWithUnits) {
  const Observation both = parse_observation("memory=1.5GiB, step=85ms", "--observed");
  EXPECT_EQ(both.memory->count(), std::int64_t{3} << 29);
  EXPECT_DOUBLE_EQ(*both.step_seconds, 0.085);
  const Observation step = parse_observation("  step=2.41s ", "--observed");
  EXPECT_FALSE(step.memory.has_value());
  EXPECT_DOUBLE_EQ(*step.step_seconds, 2.41);
}

TEST(Observation, RefusesWhatItCannotRead) {
  const auto fault = [](std::string_view text) {
    try {
      static_cast<void>(parse_observation(text, "--observed"));
    } catch (const Error& error) {
      return error.where() + " " + error.what();
    }
    return std::string("nothing");
  };
  EXPECT_EQ(fault(""), "--observed names nothing that was observed");
  EXPECT_EQ(fault("memory"), "--observed 'memory' has no value");
  EXPECT_EQ(fault("memroy=3GiB"), "--observed 'memroy=3GiB' is nothing that is observed");
  EXPECT_EQ(fault("memory=71.3"), "--observed 'memory=71.3' has no unit");
  EXPECT_EQ(fault("memory=0GiB"), "--observed 'memory=0GiB' is nothing");
  EXPECT_EQ(fault("step=2.41"), "--observed 'step=2.41' is no time");
  EXPECT_EQ(fault("step=-1s"), "--observed 'step=-1s' is no time");
  EXPECT_EQ(fault("step=s"), "--observed 'step=s' is no time");
  EXPECT_EQ(fault("step=1s step=2s"), "--observed gives step twice");
}

}  // namespace
}  // namespace fourhold::confidence

#include "fourhold/api/defaults.h"

#include <gtest/gtest.h>

namespace fourhold::api {
namespace {

plan::PlanRequest over(std::int64_t devices, std::int64_t seq = 4096) {
  plan::PlanRequest request;
  request.count = devices;
  request.seq = seq;
  return request;
}

TEST(Defaults, TheGlobalBatchIsFourMillionTokensWhateverTheCount) {
  // 4,194,304 / 4096.
  for (const std::int64_t devices : {1, 2, 8, 64, 1024, 4096}) {
    EXPECT_EQ(usual_global_batch(over(devices)), 1024) << devices;
  }
  EXPECT_EQ(usual_global_batch(over(8, 8192)), 512);
  EXPECT_EQ(usual_global_batch(over(8, 131072)), 32);
  EXPECT_EQ(usual_global_batch(over(8, 1 << 24)), 1);
}

TEST(Defaults, ASequenceThatIsNoPowerOfTwoTakesTheNearestOneOfSequences) {
  EXPECT_EQ(usual_sequences(3000), 1024);  // 1398: 1.37 times 1024, and 2048 is 1.46 times it
  EXPECT_EQ(usual_sequences(2900), 1024);  // 1446: 1.412 times 1024, below the square root of two
  EXPECT_EQ(usual_sequences(2890), 2048);  // 1451: 1.417 times
}

TEST(Defaults, DevicesOfAnOddPartTakeAGlobalBatchThatTheyDivide) {
  EXPECT_EQ(usual_global_batch(over(24)), 768);    // 3 x 256: 1.33 times less; 1536 is 1.5 times
  EXPECT_EQ(usual_global_batch(over(7)), 896);     // 7 x 128
  EXPECT_EQ(usual_global_batch(over(600)), 1200);  // 75 x 16
  EXPECT_EQ(usual_global_batch(over(4099)), 4099);
}

TEST(Defaults, DevicesThatAGivenSplitTakesNeedNotDivideIt) {
  plan::PlanRequest request = over(24);
  request.pp = 3;
  EXPECT_EQ(usual_global_batch(request), 1024);
}

TEST(Defaults, TheGlobalBatchIsAMultipleOfWhatIsGiven) {
  plan::PlanRequest request = over(8);
  request.micro_batch = 3;
  EXPECT_EQ(usual_global_batch(request), 768);  // 3 x 256
  request.dp = 8;
  EXPECT_EQ(usual_global_batch(request), 768);  // 24 x 32
}

TEST(Defaults, TheGlobalBatchIsTheProductWhereAllIsGiven) {
  plan::PlanRequest request = over(8);
  request.micro_batch = 3;
  request.grad_accum = 2;
  request.dp = 8;
  EXPECT_EQ(usual_global_batch(request), 48);
}

}  // namespace
}  // namespace fourhold::api

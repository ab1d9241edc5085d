#include "fourhold/api/plan_batch.h"

#include <gtest/gtest.h>

namespace fourhold::api {
namespace {

TEST(PlanBatch, IsEightSequencesPerDevice) {
  plan::PlanRequest request;
  request.count = 64;
  EXPECT_EQ(usual_global_batch(request), 512);
}

TEST(PlanBatch, IsAMultipleOfWhatIsGiven) {
  plan::PlanRequest request;
  request.count = 8;
  request.micro_batch = 3;
  EXPECT_EQ(usual_global_batch(request), 66);  // 64 up to a multiple of 3
}

TEST(PlanBatch, IsTheProductWhereAllIsGiven) {
  plan::PlanRequest request;
  request.count = 8;
  request.micro_batch = 3;
  request.grad_accum = 2;
  request.dp = 8;
  EXPECT_EQ(usual_global_batch(request), 48);
}

}  // namespace
}  // namespace fourhold::api

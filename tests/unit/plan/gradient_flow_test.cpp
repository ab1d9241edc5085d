#include "fourhold/plan/gradient_flow.h"

#include <gtest/gtest.h>

namespace fourhold::plan {
namespace {

using model::OpKind;

model::Operation operation(OpKind kind) {
  model::Operation op;
  op.kind = kind;
  return op;
}

TEST(GradientFlow, StatisticsMasksAndIndicesCarryNone) {
  EXPECT_TRUE(carries_gradient(operation(OpKind::norm), 0));
  EXPECT_FALSE(carries_gradient(operation(OpKind::norm), 1));
  EXPECT_FALSE(carries_gradient(operation(OpKind::dropout), 1));
  EXPECT_FALSE(carries_gradient(operation(OpKind::router), 1));
  EXPECT_TRUE(carries_gradient(operation(OpKind::split_latent), 1));
  EXPECT_TRUE(carries_gradient(operation(OpKind::latent_assemble), 1));
  EXPECT_TRUE(carries_gradient(operation(OpKind::permute), 1));  // the routing weights
}

TEST(GradientFlow, IdsTargetsAndIndicesTakeNone) {
  EXPECT_FALSE(takes_gradient(operation(OpKind::embedding_lookup), 0));
  EXPECT_TRUE(takes_gradient(operation(OpKind::cross_entropy), 0));
  EXPECT_FALSE(takes_gradient(operation(OpKind::cross_entropy), 1));
  EXPECT_FALSE(takes_gradient(operation(OpKind::unpermute), 1));
  EXPECT_TRUE(takes_gradient(operation(OpKind::unpermute), 2));
  EXPECT_TRUE(takes_gradient(operation(OpKind::attention), 2));
}

TEST(GradientFlow, SumsAndBiasesPassTheGradientOn) {
  for (const OpKind kind : {OpKind::add, OpKind::add_bias, OpKind::add_positions}) {
    EXPECT_TRUE(passes_gradient_on(operation(kind), Collective::none));
  }
  EXPECT_FALSE(passes_gradient_on(operation(OpKind::linear), Collective::none));
  // The gradient of a sum over ranks is the gradient of each addend.
  EXPECT_TRUE(passes_gradient_on(operation(OpKind::leave_branch), Collective::all_reduce));
  EXPECT_FALSE(passes_gradient_on(operation(OpKind::leave_branch), Collective::reduce_scatter));
}

TEST(GradientFlow, RotationDropoutAndSumsOverRanksWorkInPlace) {
  EXPECT_TRUE(works_in_place(operation(OpKind::rotary), Collective::none));
  EXPECT_TRUE(works_in_place(operation(OpKind::dropout), Collective::none));
  EXPECT_TRUE(works_in_place(operation(OpKind::enter_branch), Collective::copy));
  EXPECT_FALSE(works_in_place(operation(OpKind::enter_branch), Collective::all_gather));
}

}  // namespace
}  // namespace fourhold::plan

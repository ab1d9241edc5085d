// The program computes the model it claims to: its loss is that of the mathematics written out.
#include <gtest/gtest.h>

#include "tests/interpreter/models.h"
#include "tests/interpreter/plans.h"
#include "tests/interpreter/reference_model.h"
#include "tests/interpreter/simulation.h"

namespace fourhold::interpreter {
namespace {

TEST(Reference, EveryFamilyHasTheLossOfItsMathematics) {
  for (const NamedModel& model : all_models(3)) {
    SCOPED_TRACE(model.name);
    model::ModelConfig config = model.config;
    config.dropout = 0;
    config.attention_dropout = 0;
    config.embedding_dropout = 0;
    const plan::Plan plan = one_rank(config);
    const ParameterValues values = make_parameters(config, plan::switches_of(plan, any_profile()));
    const double expected =
        reference_loss(config, values, make_batch(plan.global_batch, plan.seq, config.vocab));
    // A few thousand roundings of 1e-16 each.
    EXPECT_NEAR(Simulation(config, plan, any_profile()).evaluate(values), expected,
                1e-12 * expected);
  }
}

}  // namespace
}  // namespace fourhold::interpreter

#include "fourhold/api/request.h"

#include <gtest/gtest.h>

#include "fourhold/api/fit.h"
#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

TEST(Request, ReadsFlagsAndOperandsByOneList) {
  const auto request = request_of<FitRequest>(Arguments{
      .operands = {"gpt2"},
      .options = {
          {"--device", "t4"}, {"--micro-batch", "4"}, {"--memory", "1GiB"}, {"--sp", "on"}}});
  EXPECT_EQ(request.run.model, "gpt2");
  EXPECT_EQ(request.run.target.device, "t4");
  EXPECT_EQ(request.run.plan.micro_batch, 4);
  EXPECT_EQ(request.run.target.memory, Bytes(1 << 30));
  EXPECT_EQ(request.run.plan.sp, true);
}

TEST(Request, ReadsTheSameFromJson) {
  const auto request = request_of<FitRequest>(json::parse(
      R"({"verb": "fit", "model": "gpt2", "device": "t4", "micro_batch": 4, "recompute": "full",
          "layers_per_stage": [6, 6], "headroom": 0.1})",
      "request"));
  EXPECT_EQ(request.run.model, "gpt2");
  EXPECT_EQ(request.run.plan.micro_batch, 4);
  EXPECT_EQ(request.run.plan.recompute->kind, plan::RecomputeKind::full);
  EXPECT_EQ(request.run.plan.layers_per_stage, (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(request.run.target.headroom, 0.1);
}

TEST(Request, RefusesAFlagThatStandsTwice) {
  const Refusal refusal = refusal_of([] {
    static_cast<void>(
        request_of<FitRequest>(Arguments{{"gpt2"}, {{"--seq", "1"}, {"--seq", "2"}}}));
  });
  EXPECT_EQ(refusal.where, "--seq");
  EXPECT_TRUE(holds(refusal.what, "twice"));
}

TEST(Request, RefusesOneOperandTooMany) {
  const Refusal refusal = refusal_of([] {
    static_cast<void>(request_of<FitRequest>(Arguments{{"gpt2", "plan.json", "x"}, {}}));
  });
  EXPECT_TRUE(holds(refusal.where, "'x'"));
}

TEST(Request, RefusesAnUnknownMemberWithTheNearestName) {
  const Refusal refusal = refusal_of([] {
    static_cast<void>(
        request_of<FitRequest>(json::parse(R"({"model": "gpt2", "micro_bach": 4})", "request")));
  });
  EXPECT_TRUE(holds(refusal.where, "micro_bach"));
  EXPECT_TRUE(holds(refusal.hint, "micro_batch"));
}

TEST(Request, EveryFieldOfAPlanIsAFlagButThoseOfTheEngine) {
  std::vector<std::string> flags;
  for (const OptionInfo& option : options_of<FitRequest>()) flags.push_back(option.name);
  const auto listed = [&flags](std::string_view name) {
    return std::find(flags.begin(), flags.end(), name) != flags.end();
  };
  plan::Plan plan;
  plan::visit_fields(
      [&](const plan::FieldInfo& info, const auto& /*value*/) {
        const bool of_engine = info.name == "threads" || info.name == "isa";
        EXPECT_EQ(listed(info.name), !of_engine) << info.name;
      },
      plan);
  EXPECT_TRUE(listed("count"));
}

}  // namespace
}  // namespace fourhold::api

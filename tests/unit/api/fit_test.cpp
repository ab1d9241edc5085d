#include "fourhold/api/fit.h"

#include <sstream>

#include <gtest/gtest.h>

#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/json_keys.h"

namespace fourhold::api {
namespace {

FitRequest of(const std::string& model, const std::string& device) {
  FitRequest request;
  request.run.model = model;
  request.run.target.device = device;
  return request;
}

TEST(Fit, StatesSixteenBytesPerParameterInTheStandardRecipe) {
  const FitResult result = fit(of("gpt2", "t4"));
  EXPECT_EQ(result.state.bytes_per_parameter, 16);
  EXPECT_EQ(result.state.total(), Bytes(16 * std::int64_t{124'439'808}));
  EXPECT_EQ(result.serving, Bytes(2 * std::int64_t{124'439'808}));
}

TEST(Fit, TellsOneDeviceDataParallelAndASplitApart) {
  FitRequest request = of("gpt2", "t4");
  EXPECT_EQ(fit(request).kind, PlanKind::one_device);
  request.run.plan.count = 4;
  EXPECT_EQ(fit(request).kind, PlanKind::data_parallel);
  request.run.plan.tp = 2;
  EXPECT_EQ(fit(request).kind, PlanKind::split);
}

TEST(Fit, FindsTheLeastDevicesOverWhichTheStateAloneFits) {
  // 6,738,415,616 x 16 bytes = 107.8 GB; a 24 GB card has at most 23.7 GiB = 25.4 GB: five of them.
  EXPECT_EQ(fit(of("llama-2-7b", "rtx-3090")).zero3_devices, 5);
}

TEST(Fit, HasNoSuchNumberWhereTheFrameworkCannotShardWeights) {
  FitRequest request = of("llama-2-7b", "rtx-3090");
  request.run.plan.profile = "megatron";
  EXPECT_FALSE(fit(request).zero3_devices.has_value());
}

TEST(Fit, NeedsADevice) {
  const Refusal refusal = refusal_of([] { static_cast<void>(fit(of("gpt2", ""))); });
  EXPECT_EQ(refusal.where, "--device");
  EXPECT_TRUE(holds(refusal.hint, "--memory"));
}

TEST(Fit, ItsJsonHasTheseMembers) {
  FitRequest request = of("llama-2-7b", "rtx-3090");  // does not fit, so it has answers
  request.run.plan.seq = 512;
  EXPECT_EQ(keys_of(to_json(fit(request))),
            (std::vector<std::string>{"schema text",
                                      "model.name text",
                                      "model.parameters integer",
                                      "model.active_parameters integer",
                                      "plan object",
                                      "trainable null",
                                      "plan_kind text",
                                      "chosen list",
                                      "serving.bytes integer",
                                      "state.parameters integer",
                                      "state.bytes_per_parameter number",
                                      "state.weight integer",
                                      "state.gradient integer",
                                      "state.master_weight integer",
                                      "state.optimizer_state integer",
                                      "state.total integer",
                                      "state.step_temporary integer",
                                      "state.zero3_devices integer",
                                      "activations.total integer",
                                      "activations.per_layer integer",
                                      "activations.logits integer",
                                      "device.name text",
                                      "device.usable_bytes integer",
                                      "device.headroom number",
                                      "device.budget_bytes integer",
                                      "memory.usable_bytes integer",
                                      "memory.budget_bytes integer",
                                      "memory.allocated_bytes integer",
                                      "memory.reserved_bytes integer",
                                      "memory.device_bytes integer",
                                      "memory.needed_bytes integer",
                                      "memory.allocator null",
                                      "memory.startup_bytes integer",
                                      "memory.host_bytes integer",
                                      "memory.host_staging_bytes integer",
                                      "memory.host_activation_bytes integer",
                                      "memory.interval_bytes.predicted integer",
                                      "memory.interval_bytes.low integer",
                                      "memory.interval_bytes.middle integer",
                                      "memory.interval_bytes.high integer",
                                      "memory.interval_bytes.coverage number",
                                      "memory.interval_bytes.metric text",
                                      "memory.interval_bytes.basis.text text",
                                      "memory.interval_bytes.basis.scope text",
                                      "memory.interval_bytes.basis.rows integer",
                                      "memory.interval_bytes.basis.models integer",
                                      "memory.by_category.weight integer",
                                      "memory.by_category.gathered_weight integer",
                                      "memory.by_category.packed_weight integer",
                                      "memory.by_category.master_weight integer",
                                      "memory.by_category.gradient integer",
                                      "memory.by_category.optimizer_state integer",
                                      "memory.by_category.saved_activation integer",
                                      "memory.by_category.activation_gradient integer",
                                      "memory.by_category.scratch integer",
                                      "memory.by_category.communication integer",
                                      "memory.by_category.input integer",
                                      "memory.by_category.other integer",
                                      "memory.peak_stage integer",
                                      "memory.peak_step text",
                                      "memory.stages[].stage integer",
                                      "memory.stages[].layers integer",
                                      "memory.stages[].in_flight integer",
                                      "memory.stages[].allocated_bytes integer",
                                      "memory.stages[].state_bytes integer",
                                      "memory.stages[].by_category.weight integer",
                                      "memory.stages[].by_category.gathered_weight integer",
                                      "memory.stages[].by_category.packed_weight integer",
                                      "memory.stages[].by_category.master_weight integer",
                                      "memory.stages[].by_category.gradient integer",
                                      "memory.stages[].by_category.optimizer_state integer",
                                      "memory.stages[].by_category.saved_activation integer",
                                      "memory.stages[].by_category.activation_gradient integer",
                                      "memory.stages[].by_category.scratch integer",
                                      "memory.stages[].by_category.communication integer",
                                      "memory.stages[].by_category.input integer",
                                      "memory.stages[].by_category.other integer",
                                      "largest[].recompute text",
                                      "largest[].micro_batch integer",
                                      "largest[].seq integer",
                                      "verdict.class text",
                                      "verdict.reason null",
                                      "verdict.explanation text",
                                      "verdict.missing_bytes integer",
                                      "verdict.missing_device_bytes integer",
                                      "verdict.missing_host_bytes integer",
                                      "verdict.answers[].change text",
                                      "verdict.answers[].saves_bytes integer",
                                      "verdict.answers[].costs_time_percent number",
                                      "verdict.answers[].then_class text",
                                      "verdict.answers[].then_change null",
                                      "verdict.answers[].devices integer",
                                      "verdict.answers[].plan object",
                                      "fit_probability number",
                                      "notes list"}));
}

TEST(Fit, ItsSchemaIsNamed) {
  EXPECT_EQ(to_json(fit(of("gpt2", "t4"))).find("schema")->string(), "fourhold.fit/1");
}

TEST(Fit, TheCategoriesAtThePeakAddUpToTheAllocatedBytes) {
  const FitResult result = fit(of("gpt2", "t4"));
  Bytes sum;
  for (const Bytes bytes : result.memory->worst().ledger.at_peak_by_category()) sum += bytes;
  EXPECT_EQ(sum, result.memory->allocated_bytes);
}

TEST(Fit, TheFirstThreeLinesAnswer) {
  const std::string text = to_text(fit(of("llama-2-7b", "rtx-3090")), report::Screen{});
  std::istringstream in(text);
  std::string verdict;
  std::string numbers;
  std::string change;
  std::getline(in, verdict);
  std::getline(in, numbers);
  std::getline(in, change);
  EXPECT_TRUE(holds(verdict, "llama-2-7b on rtx-3090: does not fit: state 100.41 GiB"));
  EXPECT_TRUE(holds(numbers, "State 100.41 GiB (16 bytes per parameter), activations "));
  EXPECT_TRUE(holds(numbers, " GiB, of 23."));
  EXPECT_TRUE(holds(change, "Change first: "));
}

TEST(Fit, NoLineIsWiderThanTheScreen) {
  FitRequest request = of("llama-3.1-405b", "h100-96gb-hbm2e");
  request.run.plan.count = 512;
  for (const int columns : {60, 80, 120}) {
    std::istringstream in(to_text(fit(request), {.columns = columns}));
    for (std::string line; std::getline(in, line);) {
      EXPECT_LE(report::columns_of(line), columns) << line;
    }
  }
}

}  // namespace
}  // namespace fourhold::api

#include "fourhold/api/verbs.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

Output run(const std::string& verb, std::vector<std::string> operands,
           std::vector<Arguments::Given> options, Form form = Form::text) {
  return verb_named(verb).run({std::move(operands), std::move(options)}, form, report::Screen{},
                              {});
}

TEST(Verbs, TheListOfCommandsIsFixed) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{
                       "fit", "plan", "predict", "train", "launch", "sample", "tokenize", "stall",
                       "measure", "params", "explain", "compare", "validate", "models", "hardware",
                       "profiles", "man", "completion"}));
}

TEST(Verbs, TheListOfFlagsIsFixed) {
  const auto flags = [](const char* verb) {
    std::string all;
    for (const OptionInfo& option : verb_named(verb).options()) all += option.flag + " ";
    return all;
  };
  const std::string run_flags =
      "MODEL PLAN_FILE --device --memory --host-memory --headroom --confidence --calibration "
      "--count --tp --sp --pp --vpp --cp --ep --dp --zero --shard-groups --micro-batch "
      "--grad-accum --global-batch --seq --recompute --schedule --layers-per-stage --offload "
      "--activation-offload --precision --optimizer --first-moment --second-moment "
      "--gradient-accumulation --loss-chunk --prediction-layers --tuning --lora-rank "
      "--lora-targets --lora-dropout --base-precision --modules-to-save --profile ";
  EXPECT_EQ(flags("fit"), run_flags + "--parameters --svg ");
  const std::string time_flags = "--tokens --deadline --price --mfu --tokens-per-second ";
  EXPECT_EQ(flags("predict"), run_flags + time_flags + "--observed --svg ");
  EXPECT_EQ(flags("plan"),
            "MODEL --from --change --pareto --tp-across-nodes --bounds " + time_flags +
                run_flags.substr(std::string("MODEL PLAN_FILE ").size()) + "--output --svg ");
  EXPECT_EQ(flags("explain"), run_flags + "--stage ");
  EXPECT_EQ(flags("params"), "MODEL --published ");
  EXPECT_EQ(flags("compare"), "A B ");
  EXPECT_EQ(flags("models"), "MODEL ");
  EXPECT_EQ(flags("hardware"), "DEVICE ");
  EXPECT_EQ(flags("profiles"), "PROFILE ");
  EXPECT_EQ(flags("man"), "");
  EXPECT_EQ(flags("completion"), "SHELL ");
}

TEST(Verbs, EveryOptionAndVerbExplainsItself) {
  for (const Verb& verb : verbs()) {
    EXPECT_FALSE(verb.summary.empty()) << verb.name;
    EXPECT_FALSE(verb.description.empty()) << verb.name;
    EXPECT_FALSE(verb.examples.empty()) << verb.name;
    for (const OptionInfo& option : verb.options())
      EXPECT_FALSE(option.help.empty()) << option.flag;
  }
}

TEST(Verbs, AnUnknownCommandGetsTheNearest) {
  const Refusal refusal = refusal_of([] { static_cast<void>(verb_named("predcit")); });
  EXPECT_EQ(refusal.where, "predcit");
  EXPECT_TRUE(holds(refusal.hint, "did you mean 'predict'?"));
}

TEST(Verbs, TheExitCodeIsOneWhereTheAnswerIsNo) {
  EXPECT_EQ(run("fit", {"gpt2"}, {{"--device", "t4"}}).exit_code, ExitCode::done);
  EXPECT_EQ(run("fit", {"gpt2"}, {{"--memory", "1GiB"}}).exit_code, ExitCode::answer_is_no);
  EXPECT_EQ(run("predict", {"gpt2"}, {{"--memory", "1MiB"}}).exit_code, ExitCode::answer_is_no);
  EXPECT_EQ(run("predict", {"gpt2"}, {}).exit_code, ExitCode::done);
  EXPECT_EQ(run("explain", {"gpt2"}, {{"--memory", "1MiB"}}).exit_code, ExitCode::done);
}

TEST(Verbs, JsonIsPrintedAsJson) {
  const Output output = run("params", {"gpt2"}, {}, Form::json);
  EXPECT_EQ(json::parse(output.text, "stdout").find("schema")->string(), "fourhold.params/1");
  EXPECT_EQ(output.text.back(), '\n');
}

TEST(Verbs, ADrawingIsAFileBesideTheText) {
  const Output output = run("fit", {"gpt2"}, {{"--device", "t4"}, {"--svg", "bars.svg"}});
  ASSERT_EQ(output.files.size(), 1U);
  EXPECT_EQ(output.files[0].path, "bars.svg");
  EXPECT_TRUE(holds(output.files[0].content, "gpt2 on t4"));
  EXPECT_TRUE(run("fit", {"gpt2"}, {{"--device", "t4"}}).files.empty());
}

TEST(Verbs, ABindingAsksInJsonAndGetsTheSameAnswer) {
  const json::Value answer = call(
      json::parse(R"({"verb": "fit", "model": "gpt2", "device": "t4", "seq": 256})", "request"));
  EXPECT_EQ(json::write(answer) + "\n",
            run("fit", {"gpt2"}, {{"--device", "t4"}, {"--seq", "256"}}, Form::json).text);
}

TEST(Verbs, ABindingMustNameItsVerb) {
  EXPECT_EQ(refusal_of([] { static_cast<void>(call(json::parse("{}", "request"))); }).where,
            "verb");
  EXPECT_EQ(refusal_of([] { static_cast<void>(call(json::Value(1))); }).where, "request");
}

}  // namespace
}  // namespace fourhold::api

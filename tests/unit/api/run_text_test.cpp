#include "fourhold/api/run_text.h"

#include <gtest/gtest.h>

#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

using predict::Verdict;
using predict::VerdictClass;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
const Sizes kSizes{.state = Bytes(120 * kGiB),
                   .needed = Bytes(130 * kGiB),
                   .capacity = {.usable_bytes = Bytes(24 * kGiB)}};

Verdict of(VerdictClass verdict, std::string reason = {}) {
  Verdict out;
  out.verdict = verdict;
  out.reason = std::move(reason);
  out.missing_bytes = Bytes(6 * kGiB);
  return out;
}

predict::Answer answer(std::string change, std::int64_t saves, VerdictClass then) {
  predict::Answer out;
  out.change = std::move(change);
  out.saves_bytes = Bytes(saves * kGiB);
  out.then_class = then;
  return out;
}

TEST(RunText, TheVerdictNamesWhatIsTooBig) {
  EXPECT_EQ(verdict_wording(of(VerdictClass::state_does_not_fit), kSizes).full,
            "does not fit: state 120.00 GiB, usable 24.00 GiB");
  EXPECT_EQ(verdict_wording(of(VerdictClass::activations_do_not_fit), kSizes).full,
            "does not fit: needs 130.00 GiB, usable 24.00 GiB");
  EXPECT_EQ(verdict_wording(of(VerdictClass::fits), kSizes).full, "fits: 130.00 GiB of 24.00 GiB");
  EXPECT_EQ(verdict_wording(of(VerdictClass::state_does_not_fit, "host_memory"), kSizes).full,
            "does not fit: host memory lacks 6.00 GiB");
  EXPECT_EQ(verdict_wording(of(VerdictClass::activations_do_not_fit, "headroom"), kSizes).full,
            "leaves too little free: 130.00 GiB of 24.00 GiB");
}

TEST(RunText, WhereBuffersTipTheScaleTheStateIsNotBlamedAlone) {
  const Sizes sizes{.state = Bytes(20 * kGiB),
                    .needed = Bytes(25 * kGiB),
                    .capacity = {.usable_bytes = Bytes(24 * kGiB)}};
  EXPECT_EQ(verdict_wording(of(VerdictClass::state_does_not_fit), sizes).full,
            "does not fit: needs 25.00 GiB, usable 24.00 GiB");
}

TEST(RunText, TheHeadlineSaysLessBeforeItCutsNames) {
  const report::Screen screen;
  const Wording wording = verdict_wording(of(VerdictClass::state_does_not_fit), kSizes);
  EXPECT_EQ(headline({"gpt2", "t4", 1}, wording, report::Ink::bad, screen),
            "gpt2 on t4: does not fit: state 120.00 GiB, usable 24.00 GiB\n");
  EXPECT_EQ(headline({"llama-3.1-405b", "h100-96gb-hbm2e", 512}, wording, report::Ink::bad, screen),
            "llama-3.1-405b on 512 x h100-96gb-hbm2e: does not fit: 120.00 GiB of 24.00 GiB\n");
}

TEST(RunText, TheHeadlineOfALongPathStaysOnOneLine) {
  const std::string path(200, 'x');
  const Wording wording = verdict_wording(of(VerdictClass::state_does_not_fit), kSizes);
  const std::string line = headline({path, path, 8}, wording, report::Ink::bad, report::Screen{});
  EXPECT_EQ(report::columns_of(line), 80 + 1);  // and the line break
  EXPECT_TRUE(holds(line, "does not fit"));
}

TEST(RunText, TheSubjectCountsDevices) {
  EXPECT_EQ(subject_text({"gpt2", "t4", 8}, 80), "gpt2 on 8 x t4");
  EXPECT_EQ(subject_text({"gpt2", "", 1}, 80), "gpt2 on one device");
  EXPECT_EQ(subject_text({"gpt2", "", 8}, 80), "gpt2 on 8 devices");
}

TEST(RunText, TheFirstAnswerIsTheFirstThatCures) {
  Verdict verdict = of(VerdictClass::state_does_not_fit);
  verdict.answers = {answer("A", 9, VerdictClass::state_does_not_fit),
                     answer("B", 5, VerdictClass::fits), answer("C", 7, VerdictClass::fits)};
  EXPECT_EQ(first_answer_text(verdict, report::Screen{}),
            "Change first: B; saves 5.00 GiB, then it fits.\n");
}

TEST(RunText, WhereNoneCuresItIsTheOneThatSavesMost) {
  Verdict verdict = of(VerdictClass::state_does_not_fit);
  verdict.answers = {answer("A", 4, VerdictClass::state_does_not_fit),
                     answer("B", 5, VerdictClass::activations_do_not_fit)};
  EXPECT_TRUE(holds(first_answer_text(verdict, report::Screen{}), "Change first: B"));
  verdict.answers.clear();
  EXPECT_TRUE(holds(first_answer_text(verdict, report::Screen{}), "No single change helps"));
}

TEST(RunText, AnswersStandInATableInTheirOrder) {
  Verdict verdict = of(VerdictClass::state_does_not_fit);
  verdict.answers = {answer("A", 4, VerdictClass::state_does_not_fit),
                     answer("B", 5, VerdictClass::fits)};
  const std::string text = answers_text(verdict, report::Screen{});
  EXPECT_LT(text.find("  A  "), text.find("  B  "));
  EXPECT_TRUE(holds(text, "the state still does not fit"));
  EXPECT_EQ(answers_text(of(VerdictClass::fits), report::Screen{}), "");
}

TEST(RunText, SaysWhichFieldsWereChosenHere) {
  plan::Plan plan;
  plan.seq = 4096;
  const std::string text = plan_text(plan, {"seq", "zero"}, report::Screen{});
  EXPECT_TRUE(holds(text, "Plan    dp 1"));
  EXPECT_TRUE(holds(text, "Chosen  --seq 4096, --zero 0 (not given, so chosen here)"));
  EXPECT_FALSE(holds(plan_text(plan, {}, report::Screen{}), "Chosen"));
}

}  // namespace
}  // namespace fourhold::api

// The harness must fail what is wrong: every case here runs /bin/sh as the program under test,
// which receives --json as $0 in the second run.
#include <gtest/gtest.h>

#include <string>

#include "fourhold/base/error.h"
#include "tests/cases/harness/case_file.h"
#include "tests/cases/harness/runner.h"

namespace fourhold::cases {
namespace {

Result run_text(const std::string& text) {
  return run_case(parse_case_file("a.case", "# Source: this test\n" + text), "/bin/sh", "/source");
}

// A run that prints a document, with one 'json:' line below it.
Result run_json(const std::string& check) {
  return run_text(R"(run: -c 'cat document.json'
file: document.json
{"bytes": 9007199254740993, "share": 0.5, "class": "fits", "none": null, "yes": true,
 "list": [{"kind": "a", "n": 1}, {"kind": "b c", "n": 2}], "words": ["one two", "three"]}
end
json: )" + check + "\n");
}

std::string failures(const Result& result) {
  std::string text;
  for (const std::string& failure : result.failures) text += failure + "\n";
  return text;
}

std::string fault(const std::string& text) {
  try {
    static_cast<void>(run_case(parse_case_file("a.case", text), "/bin/sh", "/source"));
  } catch (const Error& error) {
    return error.where() + ": " + error.what();
  }
  return "no fault";
}

class HoldingJson : public testing::TestWithParam<const char*> {};
TEST_P(HoldingJson, passes) { EXPECT_EQ(failures(run_json(GetParam())), ""); }
INSTANTIATE_TEST_SUITE_P(
    every_operator, HoldingJson,
    testing::Values(".bytes = 9007199254740993", ".bytes = 9_007_199_254_740_993",
                    ".bytes != 9007199254740992", ".class = \"fits\"", ".class != \"fit\"",
                    ".class contains fit", ".class lacks x", ".none null", ".none = null",
                    ".yes = true", ".yes != false", ".gone absent", ".share exists", ".share < 1",
                    ".share <= 0.5", ".share >= 0.5", ".share > .list[0].n / 3", ".share ~ 0.51 2%",
                    ".share ~ 0.51 0.011", ".list count 2", ". count 7", ".list[-1].n = 2",
                    ".list[kind=\"b c\"].n = 2 * .list[0].n", ".list[n=2].kind = \"b c\"",
                    ".words contains two", "[class] = \"fits\"", ".bytes < 8192TiB + 2",
                    ".share = .list[0].n - 1 + 1 / 2"));

class FailingJson : public testing::TestWithParam<const char*> {};
TEST_P(FailingJson, fails) { EXPECT_EQ(run_json(GetParam()).failures.size(), 1U); }
INSTANTIATE_TEST_SUITE_P(
    every_operator, FailingJson,
    testing::Values(".bytes = 9007199254740992", ".bytes != 9007199254740993", ".class = \"fit\"",
                    ".class != \"fits\"", ".class contains x", ".class lacks fit", ".class = 1",
                    ".share null", ".share = null", ".yes = false", ".yes != true", ".share absent",
                    ".gone exists", ".gone = 1", ".share < 0.5", ".share <= 0.4", ".share >= 0.6",
                    ".share > 0.5", ".share ~ 0.51 1%", ".share ~ 0.51 0.009", ".list count 3",
                    ".share count 1", ".list[2].n = 2", ".list[kind=c].n = 2",
                    ".words contains four", ".class.more exists", ".share[0] exists"));

TEST(Cases, a_failure_names_file_line_check_and_both_values) {
  EXPECT_EQ(failures(run_json(".share = 0.4")),
            "a.case:7: json: .share = 0.4: actual 0.5, expected 0.4 (+25%)\n");
  EXPECT_EQ(failures(run_json(".list[0].m = 1")),
            "a.case:7: json: .list[0].m = 1: no member 'm'; there are kind, n\n");
}

TEST(Cases, text_checks_hold_and_fail) {
  const std::string run = "run: -c 'echo one; echo two; echo three >&2; echo four > out.svg'\n";
  EXPECT_EQ(failures(run_text(run + "stdout contains \"one\\ntwo\"\n"
                                    "stdout line 2 contains two\n"
                                    "stdout lacks three\n"
                                    "stderr contains three\n"
                                    "wrote out.svg contains four\n"
                                    "columns <= 3\n")),
            "");
  const Result wrong = run_text(run +
                                "stdout contains four\n"
                                "stdout line 1 contains two\n"
                                "stdout line 3 contains two\n"
                                "stdout lacks two\n"
                                "stderr is empty\n"
                                "wrote out.txt contains four\n"
                                "columns <= 2\n");
  EXPECT_EQ(wrong.failures.size(), 7U) << failures(wrong);
}

TEST(Cases, columns_count_characters_rather_than_bytes) {
  // Three block characters of three bytes each.
  EXPECT_EQ(failures(run_text("run: -c 'echo ███'\ncolumns <= 3\n")), "");
}

TEST(Cases, the_exit_code_is_zero_unless_stated) {
  EXPECT_EQ(run_text("run: -c 'exit 2'\nstdout is empty\n").failures.size(), 1U);
  EXPECT_EQ(run_text("run: -c 'exit 2'\nexit: 1\n").failures.size(), 1U);
  EXPECT_EQ(failures(run_text("run: -c 'exit 2'\nexit: 2\n")), "");
}

TEST(Cases, a_crash_is_never_an_expected_exit_code_by_accident) {
  EXPECT_EQ(run_text("run: -c 'kill -SEGV $$'\nexit: 2\n").failures.size(), 1U);
}

TEST(Cases, output_that_is_not_json_fails_once) {
  const Result result = run_text("run: -c 'echo no'\njson: .a = 1\njson: .b = 2\n");
  EXPECT_EQ(result.failures.size(), 1U) << failures(result);
}

TEST(Cases, the_json_run_must_end_like_the_plain_one) {
  const Result result = run_text(
      "run: -c 'test \"$0\" != --json; echo 1; test \"$0\" != --json'\n"
      "json: . = 1\n");
  EXPECT_EQ(result.failures.size(), 1U) << failures(result);
}

TEST(Cases, a_later_run_compares_itself_with_a_named_one) {
  const std::string text = "run: -c 'echo 5'\nname: small\njson: . = 5\nrun: -c 'echo 10'\n";
  EXPECT_EQ(failures(run_text(text + "json: . = 2 * small.\n")), "");
  EXPECT_EQ(run_text(text + "json: . = 3 * small.\n").failures.size(), 1U);
}

TEST(Cases, the_environment_and_the_source_folder_reach_the_program) {
  EXPECT_EQ(failures(run_text("run: -c 'echo $A $0' ${source}/data\nenv: A=b\n"
                              "stdout contains \"b /source/data\"\n")),
            "");
}

TEST(Cases, a_file_that_could_pass_by_accident_is_refused) {
  EXPECT_EQ(fault("run: x\nexit: 0\n"), "a.case: no source");
  EXPECT_EQ(fault("# Source: s\n"), "a.case: no 'run:' line");
  EXPECT_EQ(fault("# Source: s\nrun: x\nrun: y\nexit: 0\n"),
            "a.case:3: a.case:2: this run checks "
            "nothing");
  EXPECT_EQ(fault("# Source: s\nrun: x\nexti: 0\n"),
            "a.case:3: not a line of a case file: exti: 0");
  EXPECT_EQ(fault("# Source: s\nexit: 0\n"), "a.case:2: a check before the first run");
  EXPECT_EQ(fault("# Source: s\nrun: x\nstdout contains \"a\n"),
            "a.case:3: a quote \" is never "
            "closed");
  EXPECT_EQ(fault("# Source: s\nfile: a\nrun: x\n"), "a.case:2: file: 'a' has no end");
  EXPECT_EQ(fault("# Source: s\nrun: -c true\nstdout holds a\n"),
            "a.case:3: 'holds' is no check of "
            "text");
  EXPECT_EQ(fault("# Source: s\nrun: -c true\nstdout contains a b\n"),
            "a.case:3: 'b' is left over");
  EXPECT_EQ(fault("# Source: s\nrun: -c 'echo 1'\njson: . is 1\n"),
            "a.case:3: json: 'is' is no "
            "operator");
  EXPECT_EQ(fault("# Source: s\nrun: -c 'echo 1'\njson: . ~ 1 x\n"),
            "a.case:3: json: 'x' is no "
            "tolerance");
  EXPECT_EQ(fault("# Source: s\nrun: -c 'echo 1'\njson: . = large.a\n"),
            "a.case:3: value: 'large.a' is neither a number nor a run named before");
}

TEST(Shortfall, PassesWhileTheCheckFailsAndNamesTheCause) {
  const Result result = run_json(".share > 0.6\nshortfall: the paper's figure isn't reached");
  EXPECT_EQ(failures(result), "");
  ASSERT_EQ(result.shortfalls.size(), 1U);
  EXPECT_NE(result.shortfalls[0].find("0.5"), std::string::npos) << result.shortfalls[0];
  EXPECT_NE(result.shortfalls[0].find("isn't reached"), std::string::npos);
}

TEST(Shortfall, FailsOnceTheCheckHolds) {
  EXPECT_NE(failures(run_json(".share > 0.4\nshortfall: too low")).find("holds now"),
            std::string::npos);
}

TEST(Shortfall, NeedsACheckAndAReason) {
  EXPECT_NE(fault("# Source: x\nrun: -c true\nshortfall: why\n").find("no check"),
            std::string::npos);
  EXPECT_NE(fault("# Source: x\nrun: -c true\nexit: 0\nshortfall: \n").find("no reason"),
            std::string::npos);
}

}  // namespace
}  // namespace fourhold::cases

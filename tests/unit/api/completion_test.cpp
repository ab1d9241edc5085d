#include "fourhold/api/completion.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "fourhold/api/verbs.h"
#include "tests/unit/api/committed_text.h"
#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

TEST(Completion, NamesEveryCommandAndFlagInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion({shell}).script;
    for (const Verb& verb : verbs()) {
      EXPECT_TRUE(holds(script, std::string(verb.name))) << shell;
      for (const OptionInfo& option : verb.options()) {
        if (option.group == OptionGroup::operand) continue;
        EXPECT_TRUE(holds(script, option.flag.substr(2))) << shell << " " << option.flag;
      }
    }
    EXPECT_TRUE(holds(script, "llama-3.1-8b")) << shell;
    EXPECT_TRUE(holds(script, "rtx-4090")) << shell;
  }
}

TEST(Completion, TheCommittedScriptsAreTheOnesThatArePrinted) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    EXPECT_TRUE(committed_text("docs/completion/" + shell) == completion({shell}).script)
        << "run: build/bin/fourhold completion " << shell << " > docs/completion/" << shell;
  }
}

// bash is there on every system the tests run on.
TEST(Completion, BashAcceptsTheScriptAndCompletes) {
  const TestFolder folder;
  const std::string script = folder.write("bash", completion({"bash"}).script);
  EXPECT_EQ(std::system(("bash -n '" + script + "'").c_str()), 0);
  const std::string check = folder.write(
      "check",
      "source '" + script +
          "'\n"
          "complete_words() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _fourhold; }\n"
          "complete_words fourhold fi; [[ ${COMPREPLY[*]} == fit ]] || exit 1\n"
          "complete_words fourhold fit --dev; [[ ${COMPREPLY[*]} == --device ]] || exit 2\n"
          "complete_words fourhold fit --device rtx-40; [[ ${COMPREPLY[*]} == rtx-4090 ]] || exit "
          "3\n"
          "complete_words fourhold fit --batch ''; [[ -z ${COMPREPLY[*]} ]] || exit 4\n"
          "complete_words fourhold completion fi; [[ ${COMPREPLY[*]} == fish ]] || exit 5\n");
  EXPECT_EQ(std::system(("bash '" + check + "'").c_str()), 0);
}

TEST(Completion, RefusesAnotherShell) {
  EXPECT_TRUE(holds(refusal_of([] { static_cast<void>(completion({"csh"})); }).hint, "bash"));
  EXPECT_EQ(refusal_of([] { static_cast<void>(completion({})); }).what, "is missing");
}

}  // namespace
}  // namespace fourhold::api

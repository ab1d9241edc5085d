#include "fourhold/api/man.h"

#include <sstream>

#include <gtest/gtest.h>

#include "fourhold/api/verbs.h"
#include "tests/unit/api/committed_text.h"
#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

TEST(Man, NamesEveryOptionOfEveryCommand) {
  const std::string page = man({}).page;
  for (const Verb& verb : verbs()) {
    for (const OptionInfo& option : verb.options()) {
      if (option.group == OptionGroup::operand) continue;
      std::string flag;
      for (const char c : option.flag) flag += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_TRUE(holds(page, "\\fB" + flag + "\\fR")) << option.flag;
    }
  }
}

TEST(Man, NoTextIsTakenForARequest) {
  std::istringstream in(man({}).page);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] != '.') continue;
    const std::string request = line.substr(0, line.find(' '));
    EXPECT_TRUE(request == ".\\\"" || request == ".TH" || request == ".SH" || request == ".SS" ||
                request == ".TP" || request == ".PP" || request == ".RS" || request == ".RE")
        << line;
  }
}

TEST(Man, TheCommittedPageIsTheOneThatIsPrinted) {
  EXPECT_TRUE(committed_text("docs/man/fourhold.1") == man({}).page)
      << "run: build/bin/fourhold man > docs/man/fourhold.1";
}

}  // namespace
}  // namespace fourhold::api

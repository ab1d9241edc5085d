#include "fourhold/api/help.h"

#include <sstream>

#include <gtest/gtest.h>

#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

void expect_narrow(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) EXPECT_LE(report::columns_of(line), 80) << line;
}

TEST(Help, NamesEveryCommand) {
  const std::string text = overview_text(report::Screen{});
  for (const Verb& verb : verbs()) EXPECT_TRUE(holds(text, std::string(verb.name)));
  expect_narrow(text);
}

TEST(Help, ListsEveryOptionOfACommandWithExamples) {
  for (const Verb& verb : verbs()) {
    const std::string text = help_text(verb, report::Screen{});
    for (const OptionInfo& option : verb.options()) {
      EXPECT_TRUE(holds(text, option.flag)) << option.flag;
      EXPECT_TRUE(holds(text, option.alias)) << option.alias;
    }
    EXPECT_TRUE(holds(text, "fourhold " + std::string(verb.name)));
    EXPECT_TRUE(holds(text, "--json"));
    expect_narrow(text);
  }
}

TEST(Help, UsageNamesTheOperands) {
  EXPECT_EQ(usage_text(verb_named("compare")), "fourhold compare A B [options]");
  EXPECT_EQ(usage_text(verb_named("man")), "fourhold man [options]");
}

}  // namespace
}  // namespace fourhold::api

#include "fourhold/engine/data/example.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/engine/data/fault.h"

namespace fourhold::engine::data {
namespace {

TEST(Example, ReadsTheThreeSpellingsOfAnswers) {
  for (const std::string name : {"answer", "completion", "response"}) {
    const Example example =
        parse_example(R"({"id": 1, "prompt": "2 + 2 =", ")" + name + R"(": " 4\u00e9"})", "x");
    EXPECT_EQ(example.prompt, "2 + 2 =");
    EXPECT_EQ(example.answer, " 4\xC3\xA9");
  }
}

TEST(Example, ListsMembersItDoesNotReadAndRefusesSlipsOfThePen) {
  EXPECT_EQ(
      parse_example(R"({"id": 1, "prompt": "a", "source": "x", "answer": "b"})", "x").not_read,
      (std::vector<std::string>{"id", "source"}));
  const Fault fault = fault_of(
      [] { (void)parse_example(R"({"prompt": "a", "answer": "b", "anwser": "c"})", "x"); });
  EXPECT_EQ(fault.where, "x: anwser");
  EXPECT_EQ(fault.hint, "did you mean 'answer'?");
}

TEST(Example, RefusesOtherLinesByName) {
  struct Case {
    std::string line;
    std::string where;
  };
  const std::vector<Case> cases{
      {R"({"messages": [{"role": "user", "content": "hi"}]})", "x: messages"},
      {R"({"text": "hi"})", "x: text"},
      {R"({"instruction": "a", "output": "b"})", "x: instruction"},
      {R"({"prompt": "a"})", "x: answer"},
      {R"({"answer": "a"})", "x: prompt"},
      {R"({"prompt": "a", "answer": ""})", "x: answer"},
      {R"({"prompt": "a", "answer": "b", "response": "c"})", "x: response"},
      {R"({"prompt": 1, "answer": "b"})", "x: prompt"},
      {R"(["a", "b"])", "x"},
      {R"({"prompt": "a")", "x"}};
  for (const Case& item : cases) {
    const Fault fault = fault_of([&] { (void)parse_example(item.line, "x"); });
    EXPECT_EQ(fault.where.substr(0, item.where.size()), item.where) << item.line;
  }
}

}  // namespace
}  // namespace fourhold::engine::data

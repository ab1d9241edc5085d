#include "fourhold/ledger/key_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "fourhold/base/error.h"
#include "tests/unit/ledger/sample_entries.h"

namespace fourhold::ledger {
namespace {

std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(parse_key(text));
  } catch (const Error& error) {
    EXPECT_NE(error.hint(), "");
    return error.what();
  }
  return "no fault";
}

TEST(KeyText, EveryPartIsReadIntoItsField) {
  const Key key = parse_key("layer.3.q_weight.lora_a.gradient@mb2");
  EXPECT_EQ(key, (Key{.block = "layer",
                      .name = "q_weight",
                      .variant = "lora_a",
                      .layer = 3,
                      .micro_batch = 2,
                      .role = Role::gradient}));
}

TEST(KeyText, PartsThatAreLeftOutHaveTheirDefaults) {
  EXPECT_EQ(parse_key("head.logits"), (Key{.block = "head", .name = "logits"}));
}

TEST(KeyText, TheTextsAreViewsOfTheInput) {
  const std::string text = "head.logits";
  EXPECT_EQ(parse_key(text).block.data(), text.data());
  EXPECT_EQ(parse_key(text).name.data(), text.data() + 5);
}

TEST(KeyText, TheLargestIndexIsRead) {
  EXPECT_EQ(parse_key("layer.2147483647.x").layer, 2147483647);
}

TEST(KeyText, EveryFaultIsNamed) {
  EXPECT_EQ(fault_of(""), "'' is not a key: it must begin with the name of a block");
  EXPECT_EQ(fault_of("3.x"), "'3.x' is not a key: it must begin with the name of a block");
  EXPECT_EQ(fault_of("layer"), "'layer' is not a key: the name behind the block is missing");
  EXPECT_EQ(fault_of("layer.3"), "'layer.3' is not a key: the name behind the block is missing");
  EXPECT_EQ(fault_of("layer.3.4"), "'layer.3.4' is not a key: '4' is not a name");
  EXPECT_EQ(fault_of("layer.03.x"), "'layer.03.x' is not a key: '03' is not a name");
  EXPECT_EQ(fault_of("layer.2147483648.x"),
            "'layer.2147483648.x' is not a key: '2147483648' is not a name");
  EXPECT_EQ(fault_of("head.x y"), "'head.x y' is not a key: 'x y' is not a name");
  EXPECT_EQ(fault_of("head.x."), "'head.x.' is not a key: '' is not a word");
  EXPECT_EQ(fault_of("head.x.value"),
            "'head.x.value' is not a key: the role 'value' is not spelled");
  EXPECT_EQ(fault_of("head.x.a.b"), "'head.x.a.b' is not a key: 'b' is not a role");
  EXPECT_EQ(fault_of("head.x.a.value"), "'head.x.a.value' is not a key: it is spelled 'head.x.a'");
  EXPECT_EQ(fault_of("head.x.a.master.b"),
            "'head.x.a.master.b' is not a key: it has a part too many");
  EXPECT_EQ(fault_of("layer.1.x.a.b.c"),
            "'layer.1.x.a.b.c' is not a key: it has more than five parts");
  EXPECT_EQ(fault_of("head.x@2"),
            "'head.x@2' is not a key: '@' must begin a micro-batch such as '@mb2'");
  EXPECT_EQ(fault_of("head.x@mb-1"),
            "'head.x@mb-1' is not a key: '@' must begin a micro-batch such as '@mb2'");
}

RC_GTEST_PROP(KeyText, EveryKeyIsReadBackFromItsText, ()) {
  const Key key = random_key();
  const std::string text = to_string(key);
  RC_ASSERT(parse_key(text) == key);
}

}  // namespace
}  // namespace fourhold::ledger

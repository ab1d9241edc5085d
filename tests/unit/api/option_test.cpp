#include "fourhold/api/option.h"

#include <gtest/gtest.h>

namespace fourhold::api {
namespace {

TEST(Option, AFlagWritesDashesForUnderscores) {
  EXPECT_EQ(flag_of("micro_batch"), "--micro-batch");
}

TEST(Option, AnOperandIsCalledByItsNameInCapitals) {
  EXPECT_EQ(info_of({{"plan_file", "help"}, OptionGroup::operand}, {}).flag, "PLAN_FILE");
  const OptionInfo named =
      info_of({{"model", "help"}, OptionGroup::operand, ValueKind::file, "MODEL.bin"}, {});
  EXPECT_EQ(named.flag, "MODEL.bin");
  EXPECT_EQ(named.alias, "");
}

TEST(Option, AClosedSetOfValuesStandsInTheHelp) {
  const OptionInfo info =
      info_of({{"schedule", "order"}, OptionGroup::plan, ValueKind::choice}, {"gpipe", "1f1b"});
  EXPECT_EQ(info.help, "order: gpipe or 1f1b");
  EXPECT_EQ(info.value, "NAME");
}

TEST(Option, OnAndOffAreTheValueItself) {
  EXPECT_EQ(info_of({{"sp", "help"}, OptionGroup::plan, ValueKind::choice}, {"on", "off"}).value,
            "on|off");
}

TEST(Option, AnAliasIsAFlagToo) {
  const OptionInfo info =
      info_of({{"micro_batch", "help"}, OptionGroup::plan, ValueKind::number, "batch"}, {});
  EXPECT_EQ(info.alias, "--batch");
  EXPECT_EQ(info.value, "N");
}

}  // namespace
}  // namespace fourhold::api

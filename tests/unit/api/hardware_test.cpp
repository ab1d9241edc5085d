#include "fourhold/api/hardware.h"

#include <sstream>

#include <gtest/gtest.h>

#include "fourhold/hardware/catalogue.h"
#include "fourhold/hardware/device_file.h"
#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

TEST(Hardware, ListsEveryBuiltInDevice) {
  EXPECT_EQ(list_hardware({}).devices.size(), hardware::device_names().size());
}

TEST(Hardware, ItsJsonHoldsDeviceFiles) {
  const json::Value value = to_json(list_hardware({"t4"}));
  EXPECT_EQ(value.find("schema")->string(), "fourhold.hardware/1");
  const hardware::Device device =
      hardware::parse_device(json::write(value.find("devices")->array().front()), "printed device");
  EXPECT_EQ(device.name, "t4");
}

TEST(Hardware, NotesWhatAnAmbiguousNameWasTakenFor) {
  EXPECT_TRUE(holds(list_hardware({"a100"}).notes.front(), "a100-sxm-80gb"));
}

TEST(Hardware, ItsTextsStayOnTheScreen) {
  for (const char* device : {"", "rtx-4090", "h100-96gb-hbm2e"}) {
    std::istringstream in(to_text(list_hardware({device}), report::Screen{}));
    for (std::string line; std::getline(in, line);) {
      EXPECT_LE(report::columns_of(line), 80) << line;
    }
  }
}

TEST(Hardware, OneDeviceIsShownWithItsSources) {
  EXPECT_TRUE(holds(to_text(list_hardware({"rtx-4090"}), report::Screen{}), "source"));
}

}  // namespace
}  // namespace fourhold::api

#include "fourhold/api/profiles.h"

#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "fourhold/hardware/catalogue.h"
#include "fourhold/plan/profile_file.h"
#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

TEST(Profiles, ListsEveryBuiltInProfile) {
  EXPECT_EQ(profiles({}).profiles.size(), plan::profile_names().size());
}

TEST(Profiles, ItsJsonHoldsProfileFiles) {
  const json::Value value = to_json(profiles({"megatron"}));
  EXPECT_EQ(value.find("schema")->string(), "fourhold.profiles/1");
  EXPECT_EQ(
      plan::parse_profile(json::write(value.find("profiles")->array().front()), "printed").name,
      "megatron");
}

TEST(Profiles, NamesMakersAsDeviceFilesDo) {
  std::set<std::string> makers;
  for (const std::string& name : hardware::device_names()) {
    makers.insert(hardware::load_device(name).device.vendor);
  }
  for (const plan::Profile& profile : profiles({}).profiles) {
    for (const std::string& vendor : profile.vendors) {
      EXPECT_EQ(makers.count(vendor), 1U) << profile.name << " " << vendor;
    }
  }
}

TEST(Profiles, OneIsShownWithItsSources) {
  EXPECT_TRUE(holds(to_text(profiles({"megatron"}), report::Screen{}), "Source  "));
}

TEST(Profiles, ItsTextsStayOnTheScreen) {
  for (const char* profile : {"", "deepspeed", "fsdp2"}) {
    std::istringstream in(to_text(profiles({profile}), report::Screen{}));
    for (std::string line; std::getline(in, line);) {
      EXPECT_LE(report::columns_of(line), 80) << line;
    }
  }
}

TEST(Profiles, RefusesAnUnknownNameWithTheNearest) {
  EXPECT_TRUE(
      holds(refusal_of([] { static_cast<void>(profiles({"megatorn"})); }).hint, "megatron"));
}

}  // namespace
}  // namespace fourhold::api

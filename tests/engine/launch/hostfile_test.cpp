#include "fourhold/engine/launch/hostfile.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

TEST(Hostfile, BothLaunchersFormsAreRead) {
  const std::vector<Host> hosts = parse_hostfile(
      "# nodes of the left rack\n"
      "a slots=2 max_slots=4\n"
      "\n"
      "  b:3   # MPICH\r\n"
      "c",
      "hosts");
  EXPECT_EQ(hosts, (std::vector<Host>{{"a", 2}, {"b", 3}, {"c", std::nullopt}}));
}

TEST(Hostfile, AHostThatStandsTwiceHasTheSlotsOfBothLines) {
  EXPECT_EQ(parse_hostfile("a slots=2\nb slots=1\na slots=3\n", "hosts"),
            (std::vector<Host>{{"a", 5}, {"b", 1}}));
}

TEST(Hostfile, FaultsNameTheLine) {
  const auto where = [](const char* text) {
    try {
      static_cast<void>(parse_hostfile(text, "hosts"));
    } catch (const Error& fault) {
      return fault.where();
    }
    return std::string("none");
  };
  EXPECT_EQ(where("a\nb slots=two\n"), "hosts:2");
  EXPECT_EQ(where("a slots=0"), "hosts:1");
  EXPECT_EQ(where("a b"), "hosts:1");
  EXPECT_EQ(where("\n:4"), "hosts:2");
  EXPECT_EQ(where("# nobody\n"), "hosts");
}

TEST(Hostfile, RoomIsSlotsOrCores) {
  const std::vector<Host> stated{{"a", 2}, {"b", 3}};
  EXPECT_EQ(slots_of(stated), 5);
  EXPECT_EQ(room_of(stated, 64, 1), 5);
  const std::vector<Host> open{{"a", 2}, {"b", std::nullopt}};
  EXPECT_FALSE(slots_of(open).has_value());
  EXPECT_EQ(room_of(open, 8, 3), 4);
  EXPECT_EQ(room_of(open, 2, 3), 2);  // at least one on each
}

TEST(Hostfile, HostsAreListedForTheCommandLine) {
  EXPECT_EQ(host_list({{"a", 2}, {"b", std::nullopt}}), "a:2,b");
}

}  // namespace
}  // namespace fourhold::engine

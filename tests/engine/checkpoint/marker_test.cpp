#include "fourhold/engine/checkpoint/marker.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

RC_GTEST_PROP(Marker, ReadsBackAsItWas, ()) {
  Marker marker;
  marker.step = *rc::gen::inRange<std::int64_t>(0, 1LL << 40);
  const int files = *rc::gen::inRange(1, 5);
  for (int i = 0; i < files; ++i) {
    FileSum file{"file-" + std::to_string(i), *rc::gen::inRange<std::int64_t>(0, 1LL << 28), {}};
    for (std::int64_t at = 0; at < file.bytes; at += kSumBlockBytes) {
      file.blocks.push_back(*rc::gen::arbitrary<std::uint64_t>());
    }
    marker.files.push_back(std::move(file));
  }
  RC_ASSERT(parse_marker(write_marker(marker), "marker") == marker);
}

std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(parse_marker(text, "marker"));
  } catch (const Error& fault) {
    return fault.where() + ": " + fault.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

std::string marker_with(const std::string& file) {
  return R"({"schema": "fourhold.checkpoint/1", "step": 1, "block_bytes": 67108864, "files": [)" +
         file + "]}";
}

TEST(Marker, NamesTheFieldThatIsWrong) {
  EXPECT_NE(fault_of("{\"schema\": \"other/1\"}").find("marker: schema: is 'other/1'"),
            std::string::npos);
  EXPECT_NE(fault_of("{").find("line 1"), std::string::npos);
  EXPECT_NE(fault_of(marker_with("")).find("files: lists no file"), std::string::npos);
  EXPECT_NE(fault_of(marker_with(R"({"name": "../x", "bytes": 0, "xxh3_64": []})"))
                .find("files[0].name: '../x' is no plain file name"),
            std::string::npos);
  EXPECT_NE(fault_of(marker_with(R"({"name": "x", "bytes": 1, "xxh3_64": []})"))
                .find("has 0 sums for the 1 blocks of 1 bytes"),
            std::string::npos);
  EXPECT_NE(fault_of(marker_with(R"({"name": "x", "bytes": 1, "xxh3_64": ["12"]})"))
                .find("'12' is not 16 hexadecimal digits"),
            std::string::npos);
  const std::string one = R"({"name": "x", "bytes": 0, "xxh3_64": []})";
  EXPECT_NE(fault_of(marker_with(one + ", " + one)).find("files[1]: 'x' is listed twice"),
            std::string::npos);
}

}  // namespace
}  // namespace fourhold::engine

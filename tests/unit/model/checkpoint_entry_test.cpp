#include "fourhold/model/checkpoint_entry.h"

#include <string>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::model {
namespace {

HeaderEntry read(const std::string& json) {
  HeaderScanner scanner(json, 100, "f");
  return read_header_entry(scanner, "w", 42);
}

TEST(CheckpointEntry, FieldsMayStandInAnyOrder) {
  const HeaderEntry entry = read(R"({"data_offsets":[4,28],"shape":[2,3],"dtype":"F32"})");
  EXPECT_EQ(entry.tensor.name, "w");
  EXPECT_EQ(entry.at, 42);
  EXPECT_EQ(entry.tensor.elements, 6);
  EXPECT_EQ(entry.tensor.bytes(), 24);  // 6 x 4
}

TEST(CheckpointEntry, FaultsOfTheWholeEntryStandAtItsName) {
  try {
    (void)read(R"({"data_offsets":[4,27],"shape":[2,3],"dtype":"F32"})");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "byte 42: 'w' needs 24 bytes for 6 elements of F32, but its offsets span 23");
  }
}

TEST(CheckpointEntry, FaultsOfAPieceStandAtThePiece) {
  try {
    (void)read(R"({"shape":[2,-3]})");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "byte 112: expected a dimension, an integer of at least 0, found '-'");
  }
}

}  // namespace
}  // namespace fourhold::model

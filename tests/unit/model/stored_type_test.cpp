#include "fourhold/model/stored_type.h"

#include <gtest/gtest.h>

namespace fourhold::model {
namespace {

TEST(StoredType, EveryNameIsFoundAgain) {
  for (int i = 0; i < kStoredTypeCount; ++i) {
    const auto type = static_cast<StoredType>(i);
    EXPECT_EQ(find_stored_type(to_string(type)), type) << to_string(type);
  }
}

TEST(StoredType, SizesAreThoseTheNamesSay) {
  EXPECT_EQ(info(StoredType::f4).bits, 4);
  EXPECT_EQ(info(StoredType::f6_e2m3).bits, 6);
  EXPECT_EQ(info(StoredType::f8_e8m0).bits, 8);
  EXPECT_EQ(info(StoredType::bf16).bits, 16);
  EXPECT_EQ(info(StoredType::c64).bits, 64);
  EXPECT_EQ(info(StoredType::boolean).bits, 8);
}

TEST(StoredType, OtherSpellingsAreNoTypes) {
  EXPECT_FALSE(find_stored_type("bf16").has_value());
  EXPECT_FALSE(find_stored_type("float32").has_value());
  EXPECT_FALSE(find_stored_type("").has_value());
}

TEST(StoredType, AScaleTypeIsNoWeightType) {
  EXPECT_TRUE(is_fp8(StoredType::f8_e4m3));
  EXPECT_FALSE(is_fp8(StoredType::f8_e8m0));
  EXPECT_FALSE(is_fp8(StoredType::u8));
}

}  // namespace
}  // namespace fourhold::model

#include "fourhold/base/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"

namespace fourhold {
namespace {

std::int64_t count(std::string_view text) { return parse_count(text, "--tokens"); }
std::int64_t bytes(std::string_view text) { return parse_bytes(text, "--memory").count(); }

template <class Parse>
std::string refusal(const Parse& parse, std::string_view text) {
  try {
    static_cast<void>(parse(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.where().substr(0, 2), "--");
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
  return "";
}

TEST(Quantity, CountsTakeExponentsFractionsAndThousands) {
  EXPECT_EQ(count("4096"), 4096);
  EXPECT_EQ(count("2e12"), 2'000'000'000'000);
  EXPECT_EQ(count("1.5T"), 1'500'000'000'000);
  EXPECT_EQ(count("7B"), 7'000'000'000);
  EXPECT_EQ(count("7 g"), 7'000'000'000);
  EXPECT_EQ(count("0.5k"), 500);
  EXPECT_EQ(count("1200e-2"), 12);
}

TEST(Quantity, CountsAreExactUpToTheLimit) {
  EXPECT_EQ(count("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(count("9.223372036854775807e18"), INT64_MAX);
  EXPECT_EQ(count("0"), 0);
  EXPECT_EQ(count("0e999999999999"), 0);
}

TEST(Quantity, CountsRefuseWhatIsNoCount) {
  EXPECT_NE(refusal(count, "").find("is empty"), std::string::npos);
  EXPECT_NE(refusal(count, "-3").find("must not be negative"), std::string::npos);
  EXPECT_NE(refusal(count, "abc").find("is not a number"), std::string::npos);
  EXPECT_NE(refusal(count, ".").find("is not a number"), std::string::npos);
  EXPECT_NE(refusal(count, "1.5").find("is not a whole number"), std::string::npos);
  EXPECT_NE(refusal(count, "1e").find("no digits in its exponent"), std::string::npos);
  EXPECT_NE(refusal(count, "3 apples").find("neither a digit nor"), std::string::npos);
  EXPECT_NE(refusal(count, "1e19").find("too large"), std::string::npos);
  EXPECT_NE(refusal(count, "9223372036854775808").find("too large"), std::string::npos);
  EXPECT_NE(refusal(count, "1e999999999999").find("too large"), std::string::npos);
  EXPECT_NE(refusal(count, std::string(40, '9')).find("too many digits"), std::string::npos);
}

TEST(Quantity, SizesTakeBothKindsOfUnits) {
  EXPECT_EQ(bytes("24GiB"), 24LL << 30);
  EXPECT_EQ(bytes("80GB"), 80'000'000'000);
  EXPECT_EQ(bytes("80 gb"), 80'000'000'000);
  EXPECT_EQ(bytes("1.5MiB"), 1'572'864);
  EXPECT_EQ(bytes("512"), 512);
  EXPECT_EQ(bytes("512B"), 512);
  EXPECT_EQ(bytes("2TiB"), 2LL << 40);
}

TEST(Quantity, ExaIsAUnitNotAnExponent) {
  EXPECT_EQ(bytes("0.0005EiB"), 576'460'752'303'423);  // 0.0005 x 2^60 = 576460752303423.488
  EXPECT_EQ(bytes("0.001EB"), 1'000'000'000'000'000);
  EXPECT_EQ(bytes("1e3"), 1000);
}

TEST(Quantity, SizesEndAtOnePebibyte) {
  EXPECT_EQ(bytes("1PiB"), 1LL << 50);
  EXPECT_EQ(bytes("1125899906842624"), 1LL << 50);
  for (const char* text : {"1125899906842625", "1EiB", "9223372036854775807"}) {
    EXPECT_NE(refusal(bytes, text).find("too large: the limit is 1.00 PiB"), std::string::npos);
  }
}

TEST(Quantity, NounsFollowTheirCount) {
  EXPECT_EQ(counted(0, "stage"), "0 stages");
  EXPECT_EQ(counted(1, "stage"), "1 stage");
  EXPECT_EQ(counted(2, "stage"), "2 stages");
}

TEST(Quantity, AFractionOfAByteIsDropped) {
  EXPECT_EQ(bytes("23.6GiB"), 25'340'307'046);  // 25340307046.4
  EXPECT_EQ(bytes("0.1GiB"), 107'374'182);      // 107374182.4
}

TEST(Quantity, SizesRefuseWhatIsAmbiguousOrUnknown) {
  EXPECT_NE(refusal(bytes, "24G").find("powers of 1000 or of 1024"), std::string::npos);
  EXPECT_NE(refusal(bytes, "24 parsecs").find("unknown unit"), std::string::npos);
  EXPECT_NE(refusal(bytes, "-1GiB").find("negative"), std::string::npos);
  EXPECT_NE(refusal(bytes, "1e9PiB").find("too large"), std::string::npos);
}

TEST(Quantity, BytesAreShownInTheLargestUnitThatKeepsThemAboveOne) {
  EXPECT_EQ(format_bytes(Bytes(0)), "0 B");
  EXPECT_EQ(format_bytes(Bytes(1023)), "1023 B");
  EXPECT_EQ(format_bytes(Bytes(1536)), "1.50 KiB");
  EXPECT_EQ(format_bytes(Bytes(13'476'831'232)), "12.55 GiB");  // 6,738,415,616 x 2 / 2^30 = 12.551
  EXPECT_EQ(format_bytes(Bytes((1LL << 30) - 1)), "1.00 GiB");  // never "1024.00 MiB"
  EXPECT_EQ(format_bytes(Bytes(-1536)), "-1.50 KiB");
  EXPECT_EQ(format_bytes(Bytes(INT64_MAX)), "8.00 EiB");
  EXPECT_EQ(format_bytes(Bytes(INT64_MIN)), "-8.00 EiB");
}

TEST(Quantity, CountsAreGroupedByThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(8'030'261'248), "8,030,261,248");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(INT64_MIN), "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace fourhold

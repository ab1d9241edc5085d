#include "fourhold/engine/data/token_file.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/engine/data/fault.h"
#include "tests/engine/data/files.h"

namespace fourhold::engine::data {
namespace {

Fault layout_fault(const std::string& file) {
  return fault_of([&] { (void)token_layout(file, "x.bin"); });
}

TEST(TokenFile, ReadsBothMagicsOfLlmC) {
  const std::string narrow =
      llm_c_header(20240520, 1, 3) + little_endian(std::vector<std::uint16_t>{1, 2, 50256});
  const TokenLayout layout = token_layout(narrow, "x.bin");
  EXPECT_EQ(layout.format, TokenFormat::llm_c);
  EXPECT_EQ(layout.type, TokenType::uint16);
  EXPECT_EQ(layout.first_byte, 1024);
  EXPECT_EQ(layout.count, 3);

  const std::string wide =
      llm_c_header(20240801, 7, 2) + little_endian(std::vector<std::uint32_t>{1, 128255});
  EXPECT_EQ(token_layout(wide, "x.bin").type, TokenType::uint32);
  EXPECT_EQ(token_layout(wide, "x.bin").count, 2);
}

TEST(TokenFile, WithoutAMagicItIsNanoGpts) {
  const TokenLayout layout =
      token_layout(little_endian(std::vector<std::uint16_t>{7, 50256, 11}), "x.bin");
  EXPECT_EQ(layout.format, TokenFormat::nanogpt);
  EXPECT_EQ(layout.type, TokenType::uint16);
  EXPECT_EQ(layout.first_byte, 0);
  EXPECT_EQ(layout.count, 3);
}

TEST(TokenFile, RefusesAnEndInsideTheHeader) {
  const Fault fault = layout_fault(llm_c_header(20240520, 1, 0).substr(0, 700));
  EXPECT_EQ(fault.where, "x.bin");
  EXPECT_TRUE(has(fault.what, "byte 700: ends inside the header")) << fault.what;
}

TEST(TokenFile, RefusesAnotherVersionAndANegativeCount) {
  EXPECT_TRUE(has(layout_fault(llm_c_header(20240520, 7, 0)).what, "byte 4: version 7"));
  EXPECT_TRUE(has(layout_fault(llm_c_header(20240801, 1, 0)).what, "byte 4: version 1"));
  EXPECT_TRUE(has(layout_fault(llm_c_header(20240520, 1, -5)).what, "byte 8: a count of -5"));
}

TEST(TokenFile, RefusesATruncatedFileWithBothSizes) {
  const Fault fault = layout_fault(llm_c_header(20240520, 1, 5) + std::string(7, '\1'));
  EXPECT_TRUE(has(fault.what, "byte 1031: 5 tokens of uint16 take 10 bytes, but the file has 7"))
      << fault.what;
  EXPECT_TRUE(has(fault.hint, "cut short")) << fault.hint;
}

TEST(TokenFile, RefusesBytesThatNoTokenUses) {
  const Fault fault = layout_fault(llm_c_header(20240520, 1, 5) + std::string(11, '\1'));
  EXPECT_TRUE(has(fault.what, "byte 1034")) << fault.what;
  EXPECT_TRUE(has(fault.hint, "no token uses")) << fault.hint;
}

TEST(TokenFile, TwiceOrHalfTheSizeHintsAtTheWrongWidth) {
  const Fault twice = layout_fault(llm_c_header(20240520, 1, 5) + std::string(20, '\1'));
  EXPECT_TRUE(has(twice.hint, "4 bytes each, not 2 (uint16 and uint32 mixed up)")) << twice.hint;
  const Fault half = layout_fault(llm_c_header(20240801, 7, 5) + std::string(10, '\1'));
  EXPECT_TRUE(has(half.hint, "2 bytes each, not 4")) << half.hint;
}

TEST(TokenFile, RefusesForeignFilesByWhatTheyAre) {
  struct Case {
    std::string file;
    std::string what;
  };
  const std::vector<Case> cases{
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"},
      {"\x1F\x8B\x08\x01", "gzip"},
      {std::string("PK\x03\x04\0\0", 6), "zip archive"},
      {"\x93NUMPY\x01\x02", "NumPy"},
      {"PAR1\x15\x04", "Parquet"},
      {"<!DOCTYPE html><html><head>", "HTML page"},
      {"Once upon a time there was a text.", "is text, not tokens"},
      {"Gr\xC3\xBC\xC3\x9F Gott, das ist ein Text.", "is text, not tokens"},
      {std::string("MMIDIDX\0\0\1", 10), "index of a Megatron data set"},
      {"", "is empty"},
      {"\1\2\3", "byte 2: has 3 bytes, which is no whole number of uint16"}};
  for (const Case& item : cases) {
    const Fault fault = layout_fault(item.file);
    EXPECT_TRUE(has(fault.what, item.what)) << fault.what;
    EXPECT_TRUE(has(fault.what, "byte ")) << fault.what;
  }
}

TEST(TokenFile, AFileThatIsSaidToBeLlmCNeedsItsMagic) {
  const Fault fault = fault_of(
      [] { (void)token_layout_as(TokenFormat::llm_c, std::string("\1\0\0\0\2\0", 6), "x.bin"); });
  EXPECT_TRUE(has(fault.what, "byte 0: magic 1 ")) << fault.what;
}

}  // namespace
}  // namespace fourhold::engine::data

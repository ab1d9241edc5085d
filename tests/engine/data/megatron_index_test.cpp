#include "fourhold/engine/data/megatron_index.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/engine/data/fault.h"
#include "tests/engine/data/files.h"

namespace fourhold::engine::data {
namespace {

// Three sequences of 4, 0 and 6 tokens; the first two are one document. Offsets in the file:
// lengths from 34, pointers from 34 + 12 = 46, boundaries from 46 + 24 = 70.
std::string good() { return megatron_index(8, 2, {4, 0, 6}, {0, 2, 3}); }

std::string with(std::size_t byte, const std::string& bytes) {
  std::string file = good();
  return file.replace(byte, bytes.size(), bytes);
}

Fault index_fault(const std::string& file) {
  return fault_of([&] { const MegatronIndex index(file, "x.idx"); });
}

TEST(MegatronIndex, ReadsTypesTokensAndDocuments) {
  const std::string file = good();
  const MegatronIndex index(file, "x.idx");
  EXPECT_EQ(index.type(), TokenType::uint16);
  EXPECT_EQ(index.tokens(), 10);
  ASSERT_EQ(index.documents(), 2);
  EXPECT_EQ(index.document_start(0), 0);
  EXPECT_EQ(index.document_start(1), 4);
  EXPECT_EQ(index.document_start(2), 10);
}

TEST(MegatronIndex, EveryTypeOfIdsHasItsWidth) {
  const std::vector<std::pair<std::uint8_t, TokenType>> codes{{1, TokenType::uint8},
                                                              {3, TokenType::int16},
                                                              {4, TokenType::int32},
                                                              {5, TokenType::int64},
                                                              {8, TokenType::uint16}};
  for (const auto& [code, type] : codes) {
    const std::string file = megatron_index(code, info(type).bytes, {3, 2}, {0, 1, 2});
    EXPECT_EQ(MegatronIndex(file, "x.idx").type(), type);
    EXPECT_EQ(megatron_code(type), code);
  }
  EXPECT_EQ(megatron_code(TokenType::uint32), std::nullopt);
}

TEST(MegatronIndex, RefusesEveryDamageWithItsByte) {
  struct Case {
    std::string file;
    std::string what;
  };
  const std::vector<Case> cases{
      {"", "byte 0: ends inside the header"},
      {"MMIDIDX", "byte 7: ends inside the header"},
      {good().substr(0, 33), "byte 33: ends inside the header"},
      {"{\"this\": \"is some JSON text\"}", "byte 0: is text"},
      {std::string(40, '\2'), "byte 0: does not begin with MMIDIDX"},
      {with(9, little_endian(std::uint64_t{2})), "byte 9: version 2"},
      {with(17, "\7"), "byte 17: type 7 is float32"},
      {with(17, "\x0B"), "byte 17: type 11 is unknown"},
      {with(18, little_endian(std::uint64_t{1} << 60)), "byte 18: 1152921504606846976 sequences"},
      {with(26, little_endian(~std::uint64_t{0})), "byte 26:"},
      {with(18, little_endian(std::uint64_t{4})), "take 106 bytes, but the index has 94"},
      {good().substr(0, 93), "byte 93: 3 sequences and 3 document boundaries take 94 bytes"},
      {good() + "x", "byte 94:"},
      {good() + std::string(3, '\0'), "byte 94: has a mode for each sequence"},
      {with(34, little_endian(std::int32_t{-1})), "byte 34: sequence 0 has -1 tokens"},
      {with(54, little_endian(std::int64_t{6})), "byte 54: sequence 1 begins at byte 6"},
      {with(70, little_endian(std::int64_t{1})), "byte 70: document 0 begins at sequence 1"},
      {with(78, little_endian(std::int64_t{4})), "byte 78: document 1 begins at sequence 4"},
      {with(86, little_endian(std::int64_t{1})), "byte 86: document 2 begins at sequence 1"},
      {megatron_index(8, 2, {4, 6}, {0, 1}), "the last document ends at sequence 1 of 2"},
      {megatron_index(8, 2, {}, {}), "byte 26: no document boundary"}};
  for (const Case& item : cases) {
    const Fault fault = index_fault(item.file);
    EXPECT_EQ(fault.where, "x.idx");
    EXPECT_TRUE(has(fault.what, item.what)) << fault.what << "\nexpected: " << item.what;
  }
}

TEST(MegatronIndex, OffsetsOfAnotherTypeAreCalledThat) {
  const Fault fault = index_fault(megatron_index(8, 4, {4, 6}, {0, 2}));
  EXPECT_TRUE(has(fault.hint, "uint16 and int32 mixed up")) << fault.hint;
}

}  // namespace
}  // namespace fourhold::engine::data

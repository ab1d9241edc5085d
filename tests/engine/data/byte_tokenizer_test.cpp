#include "fourhold/engine/data/byte_tokenizer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/engine/data/fault.h"

namespace fourhold::engine::data {
namespace {

RC_GTEST_PROP(ByteTokenizer, EveryByteIsItsOwnToken, (const std::string& text)) {
  const auto tokenizer = make_byte_tokenizer();
  const std::vector<TokenId> ids = tokenizer->encode(text);
  RC_ASSERT(ids.size() == text.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    RC_ASSERT(ids[i] == static_cast<unsigned char>(text[i]));
  }
  RC_ASSERT(tokenizer->decode(ids) == text);
}

TEST(ByteTokenizer, LongTextsArriveInPieces) {
  const auto tokenizer = make_byte_tokenizer();
  std::size_t pieces = 0;
  std::size_t tokens = 0;
  tokenizer->encode(std::string(100'000, '\xFF'), [&](std::span<const TokenId> ids) {
    ++pieces;
    tokens += ids.size();
    EXPECT_EQ(ids.front(), 255);
  });
  EXPECT_GT(pieces, 1U);
  EXPECT_EQ(tokens, 100'000U);
}

TEST(ByteTokenizer, HasOneTokenMoreForTheEndOfAText) {
  const auto tokenizer = make_byte_tokenizer();
  EXPECT_EQ(tokenizer->vocabulary_size(), 257);
  EXPECT_EQ(tokenizer->end_of_text(), 256);
  EXPECT_EQ(tokenizer->id_of("<|endoftext|>"), 256);
  EXPECT_EQ(tokenizer->id_of("a"), 97);
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{104, 105, 256}), "hi<|endoftext|>");
  (void)fault_of([&] { (void)tokenizer->decode(std::vector<TokenId>{257}); });
  (void)fault_of([&] { (void)tokenizer->decode(std::vector<TokenId>{-1}); });
}

}  // namespace
}  // namespace fourhold::engine::data

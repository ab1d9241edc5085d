#include "fourhold/engine/sample/text_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fourhold/engine/data/byte_tokenizer.h"

namespace fourhold::engine {
namespace {

// Decodes as SentencePiece does: the blank before a text's first word is left out.
class Words final : public data::Tokenizer {
 public:
  void encode(std::string_view /*text*/, const data::TokenSink& /*sink*/) override {}
  [[nodiscard]] std::string decode(std::span<const data::TokenId> ids) const override {
    std::string text;
    for (const data::TokenId id : ids) {
      text += (text.empty() ? "w" : " w") + std::to_string(id);
    }
    return text;
  }
  [[nodiscard]] std::int64_t vocabulary_size() const override { return 1000; }
  [[nodiscard]] std::string name() const override { return "words"; }
  [[nodiscard]] std::optional<data::TokenId> end_of_text() const override { return std::nullopt; }
  [[nodiscard]] std::optional<data::TokenId> id_of(std::string_view /*token*/) const override {
    return std::nullopt;
  }
};

std::vector<std::string> pieces_of(const std::string& bytes) {
  const auto tokenizer = data::make_byte_tokenizer();
  TextStream stream(*tokenizer, {});
  std::vector<std::string> pieces;
  for (const char byte : bytes) pieces.push_back(stream.add(static_cast<unsigned char>(byte)));
  pieces.push_back(stream.finish());
  return pieces;
}

using Pieces = std::vector<std::string>;

TEST(TextStream, ShowsACharacterWhenItsLastByteIsThere) {
  EXPECT_EQ(pieces_of("a\xC3\xA9z"), (Pieces{"a", "", "\xC3\xA9", "z", ""}));
  EXPECT_EQ(pieces_of("\xF0\x9F\x99\x82"), (Pieces{"", "", "", "\xF0\x9F\x99\x82", ""}));
}

TEST(TextStream, BytesOfNoCharacterBecomeTheReplacementCharacter) {
  EXPECT_EQ(pieces_of("a\xFFz"), (Pieces{"a", "\xEF\xBF\xBD", "z", ""}));
  EXPECT_EQ(pieces_of("\x80"), (Pieces{"\xEF\xBF\xBD", ""}));
  // A character that is broken off by another.
  EXPECT_EQ(pieces_of("\xE2\x82z"), (Pieces{"", "", "\xEF\xBF\xBD\xEF\xBF\xBDz", ""}));
}

TEST(TextStream, WhatIsUnfinishedAtTheEndIsShownThen) {
  EXPECT_EQ(pieces_of("a\xE2\x82"), (Pieces{"a", "", "", "\xEF\xBF\xBD\xEF\xBF\xBD"}));
}

TEST(TextStream, APieceGoesOnFromTheTokensBefore) {
  const Words tokenizer;
  const std::vector<data::TokenId> before{1, 2};
  TextStream stream(tokenizer, before);
  EXPECT_EQ(stream.add(3), " w3");
  TextStream alone(tokenizer, {});
  EXPECT_EQ(alone.add(3), "w3");
}

TEST(TextStream, LongTextsAreTheSameAsDecodedAtOnce) {
  const Words tokenizer;
  TextStream stream(tokenizer, {});
  std::vector<data::TokenId> ids;
  std::string text;
  for (data::TokenId id = 0; id < 300; ++id) {
    ids.push_back(id);
    text += stream.add(id);
  }
  EXPECT_EQ(text + stream.finish(), tokenizer.decode(ids));
}

}  // namespace
}  // namespace fourhold::engine

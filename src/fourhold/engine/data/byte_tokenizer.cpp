#include "fourhold/engine/data/byte_tokenizer.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::engine::data {
namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";

class ByteTokenizer final : public Tokenizer {
 public:
  void encode(std::string_view text, const TokenSink& sink) override {
    std::array<TokenId, 4096> piece{};
    for (std::size_t at = 0; at < text.size(); at += piece.size()) {
      const std::string_view bytes = text.substr(at, piece.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        piece[i] = static_cast<unsigned char>(bytes[i]);
      }
      sink(std::span(piece).first(bytes.size()));
    }
  }

  [[nodiscard]] std::string decode(std::span<const TokenId> ids) const override {
    std::string text;
    text.reserve(ids.size());
    for (const TokenId id : ids) {
      if (id == kByteEndOfText) {
        text += kEndOfText;
      } else if (id >= 0 && id < kByteEndOfText) {
        text += static_cast<char>(static_cast<unsigned char>(id));
      } else {
        throw Error("tokens", fmt::format("{} is no byte", id), "ids 0 to 256 are known");
      }
    }
    return text;
  }

  [[nodiscard]] std::int64_t vocabulary_size() const override { return kByteVocabulary; }
  [[nodiscard]] std::string name() const override { return "bytes"; }
  [[nodiscard]] std::optional<TokenId> end_of_text() const override { return kByteEndOfText; }
  [[nodiscard]] std::optional<TokenId> id_of(std::string_view token) const override {
    if (token == kEndOfText) return kByteEndOfText;
    if (token.size() == 1) return static_cast<unsigned char>(token[0]);
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Tokenizer> make_byte_tokenizer() { return std::make_unique<ByteTokenizer>(); }

}  // namespace fourhold::engine::data

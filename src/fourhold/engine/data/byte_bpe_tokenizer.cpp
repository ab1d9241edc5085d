#include "fourhold/engine/data/byte_bpe_tokenizer.h"

#include <array>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/utf8.h"
#include "fourhold/engine/data/added_tokens.h"
#include "fourhold/engine/data/bpe_vocabulary.h"
#include "fourhold/engine/data/content_hash.h"
#include "fourhold/engine/data/nfc.h"
#include "fourhold/engine/data/tokenizer_json.h"

namespace fourhold::engine::data {
namespace {

constexpr std::size_t kPieceTokens = 4096;
// Words repeat: most of a text is found here. Long words rarely do.
constexpr std::size_t kCachedWords = 1 << 16;
constexpr std::size_t kLongestCachedWord = 64;

// How publishers call the token that ends a document, the plainest first.
constexpr std::array<std::string_view, 6> kEndsOfText{
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<eos>",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
    "<|eos|>"};

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

void check_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_character_at(text, at);
    if (character.code == Utf8Character::kInvalid) {
      throw Error(
          "text",
          fmt::format("byte {}: 0x{:02X} is not UTF-8", at, static_cast<unsigned char>(text[at])),
          "save the text as UTF-8, or use the tokenizer 'bytes'");
    }
    at += character.bytes;
  }
}

class ByteBpeTokenizer final : public Tokenizer {
 public:
  ByteBpeTokenizer(TokenizerJson json, std::string hash)
      : vocabulary_(json),
        pre_tokenizer_(std::move(json.pre_tokenizer)),
        normalization_(json.normalization),
        ignore_merges_(json.ignore_merges),
        prefix_(std::move(json.prefix)),
        suffix_(std::move(json.suffix)),
        hash_(std::move(hash)) {
    for (AddedToken& token : json.added) {
      const bool late = token.normalized;
      std::string content = late ? normalized(token.content) : std::move(token.content);
      (late ? late_tokens_ : early_tokens_).add(std::move(content), token.id);
    }
  }

  void encode(std::string_view text, const TokenSink& sink) override {
    check_utf8(text);
    out_.clear();
    around(early_tokens_, text, sink, [&](std::string_view part) {
      const bool as_it_is = normalization_ == Normalization::none || is_ascii(part);
      const std::string changed = as_it_is ? std::string() : normalized(part);
      around(late_tokens_, as_it_is ? part : changed, sink, [&](std::string_view piece) {
        pre_tokenizer_.split(piece, [&](std::string_view word) {
          encode_word(word);
          flush_above(kPieceTokens, sink);
        });
      });
    });
    flush_above(1, sink);
  }

  [[nodiscard]] std::string decode(std::span<const TokenId> ids) const override {
    std::string text;
    for (const TokenId id : ids) {
      const std::string* bytes = vocabulary_.bytes(id);
      if (bytes == nullptr) {
        throw Error("tokens", fmt::format("no token has id {}", id),
                    fmt::format("ids are below {}", vocabulary_.size()));
      }
      text += *bytes;
    }
    return text;
  }

  [[nodiscard]] std::int64_t vocabulary_size() const override { return vocabulary_.size(); }
  [[nodiscard]] std::string name() const override {
    return "byte-level BPE, tokenizer.json " + hash_;
  }
  [[nodiscard]] std::vector<TokenId> prefix() const override { return prefix_; }
  [[nodiscard]] std::vector<TokenId> suffix() const override { return suffix_; }

  [[nodiscard]] std::optional<TokenId> end_of_text() const override {
    for (const std::string_view name : kEndsOfText) {
      if (const auto id = id_of(name)) return id;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<TokenId> id_of(std::string_view token) const override {
    const std::optional<TokenId> added = vocabulary_.find_added(token);
    return added ? added : vocabulary_.find(token);
  }

 private:
  [[nodiscard]] std::string normalized(std::string_view text) const {
    return normalization_ == Normalization::nfc ? nfc(text) : std::string(text);
  }

  void flush_above(std::size_t least, const TokenSink& sink) {
    if (out_.size() < least) return;
    sink(out_);
    out_.clear();
  }

  // Emits the added tokens of a text, and hands on what stands between them.
  template <typename Between>
  void around(const AddedTokens& tokens, std::string_view text, const TokenSink& sink,
              Between&& between) {
    std::size_t reached = 0;
    while (const auto found = tokens.find(text, reached)) {
      if (found->begin > reached) between(text.substr(reached, found->begin - reached));
      out_.push_back(found->id);
      flush_above(kPieceTokens, sink);
      reached = found->end;
    }
    if (reached < text.size()) between(text.substr(reached));
  }

  void encode_word(std::string_view word) {
    if (const auto cached = cache_.find(word); cached != cache_.end()) {
      out_.insert(out_.end(), cached->second.begin(), cached->second.end());
      return;
    }
    word_.clear();
    const std::optional<TokenId> whole =
        ignore_merges_ ? vocabulary_.find(word) : std::optional<TokenId>();
    if (whole) {
      word_.push_back(*whole);
    } else {
      for (const char c : word) word_.push_back(id_of_byte(static_cast<unsigned char>(c)));
      vocabulary_.merges().apply(word_);
    }
    out_.insert(out_.end(), word_.begin(), word_.end());
    if (word.size() <= kLongestCachedWord && cache_.size() < kCachedWords) {
      cache_.emplace(word, word_);
    }
  }

  [[nodiscard]] TokenId id_of_byte(unsigned char byte) const {
    const TokenId id = vocabulary_.byte(byte);
    if (id >= 0) return id;
    throw Error("text", fmt::format("byte 0x{:02X} has no token in this vocabulary", byte),
                "use a tokenizer whose vocabulary holds all 256 bytes");
  }

  BpeVocabulary vocabulary_;
  PreTokenizer pre_tokenizer_;
  AddedTokens early_tokens_;  // looked for in the text as it is
  AddedTokens late_tokens_;   // ... and in the normalized text
  Normalization normalization_;
  bool ignore_merges_;
  std::vector<TokenId> prefix_;
  std::vector<TokenId> suffix_;
  std::string hash_;

  std::unordered_map<std::string, std::vector<TokenId>, StringHash, std::equal_to<>> cache_;
  std::vector<TokenId> word_;
  std::vector<TokenId> out_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_byte_bpe_tokenizer(std::string_view json,
                                                   const std::string& where) {
  TokenizerJson parsed = parse_tokenizer_json(json, where);
  try {
    return std::make_unique<ByteBpeTokenizer>(std::move(parsed), content_hash(json));
  } catch (const Error& error) {
    throw error.inside(where);
  }
}

}  // namespace fourhold::engine::data

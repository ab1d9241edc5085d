#include "fourhold/engine/sample/text_stream.h"

#include <algorithm>
#include <string_view>

#include "fourhold/base/utf8.h"

namespace fourhold::engine {
namespace {

// Tokens that are decoded anew with each token, and how many may pile up before it.
constexpr std::size_t kContextTokens = 8;
constexpr std::size_t kMostTokens = 32;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::size_t kMostUnfinished = 3;                 // bytes of a character of four

// How many bytes the character that begins with `first` has; 1 for what begins none.
std::size_t announced(unsigned char first) {
  if ((first & 0xE0U) == 0xC0U) return 2;
  if ((first & 0xF0U) == 0xE0U) return 3;
  if ((first & 0xF8U) == 0xF0U) return 4;
  return 1;
}

// Bytes before a last character that more tokens may finish. SentencePiece writes U+FFFD for the
// bytes of such a one.
std::size_t finished(std::string_view text) {
  for (std::size_t back = 1; back <= std::min(kMostUnfinished, text.size()); ++back) {
    const auto first = static_cast<unsigned char>(text[text.size() - back]);
    if ((first & 0xC0U) == 0x80U) continue;
    if (announced(first) > back) return text.size() - back;
    break;
  }
  std::size_t end = text.size();
  for (std::size_t i = 0; i < kMostUnfinished; ++i) {
    if (!text.substr(0, end).ends_with(kReplacement)) break;
    end -= kReplacement.size();
  }
  return end;
}

}  // namespace

TextStream::TextStream(const data::Tokenizer& tokenizer, std::span<const data::TokenId> before)
    : tokenizer_(tokenizer), ids_(before.begin(), before.end()) {
  shorten();
}

// Old tokens are let go of where everything is shown.
void TextStream::shorten() {
  if (ids_.size() > kContextTokens) {
    ids_.erase(ids_.begin(), ids_.end() - static_cast<std::ptrdiff_t>(kContextTokens));
  }
  text_ = tokenizer_.decode(ids_);
  shown_ = text_.size();
}

std::string TextStream::add(data::TokenId id) {
  ids_.push_back(id);
  text_ = tokenizer_.decode(ids_);
  const std::size_t end = finished(text_);
  if (end <= shown_) return {};
  std::string piece = valid_utf8(std::string_view(text_).substr(shown_, end - shown_));
  shown_ = end;
  if (shown_ == text_.size() && ids_.size() >= kMostTokens) shorten();
  return piece;
}

std::string TextStream::finish() {
  if (shown_ >= text_.size()) return {};
  std::string piece = valid_utf8(std::string_view(text_).substr(shown_));
  shown_ = text_.size();
  return piece;
}

}  // namespace fourhold::engine

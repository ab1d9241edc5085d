#include "fourhold/model/header_scanner.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::model {
namespace {

void append_code_point(std::string& out, std::uint32_t code) {
  const auto push = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xC0U | code >> 6U);
    push(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    push(0xE0U | code >> 12U);
    push(0x80U | (code >> 6U & 0x3FU));
    push(0x80U | (code & 0x3FU));
  } else {
    push(0xF0U | code >> 18U);
    push(0x80U | (code >> 12U & 0x3FU));
    push(0x80U | (code >> 6U & 0x3FU));
    push(0x80U | (code & 0x3FU));
  }
}

}  // namespace

HeaderScanner::HeaderScanner(std::string_view text, std::int64_t file_offset, std::string where)
    : text_(text), file_offset_(file_offset), where_(std::move(where)) {}

void HeaderScanner::fail_at(std::int64_t offset, const std::string& fault, std::string hint) const {
  throw Error(where_, fmt::format("byte {}: {}", offset, fault), std::move(hint));
}

void HeaderScanner::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

std::int64_t HeaderScanner::offset() {
  skip_space();
  return here();
}

std::string HeaderScanner::found() const {
  if (at_ >= text_.size()) return "the end of the header";
  const char c = text_[at_];
  if (c >= 0x20 && c < 0x7F) return fmt::format("'{}'", c);
  return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(c));
}

bool HeaderScanner::take(char wanted) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != wanted) return false;
  ++at_;
  return true;
}

void HeaderScanner::expect(char wanted, std::string_view place) {
  if (take(wanted)) return;
  fail_at(here(), fmt::format("expected '{}' {}, found {}", wanted, place, found()));
}

char HeaderScanner::next_of(std::string_view what) {
  if (at_ >= text_.size()) fail_at(here(), fmt::format("{} does not end", what));
  return text_[at_++];
}

std::string HeaderScanner::string(std::string_view what) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != '"') {
    fail_at(here(), fmt::format("expected {} in double quotes, found {}", what, found()));
  }
  ++at_;
  std::string out;
  while (true) {
    const char c = next_of(what);
    if (c == '"') return out;
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      fail_at(here() - 1, fmt::format("{} holds the control byte 0x{:02x}", what, byte));
    }
    if (c == '\\') {
      append_escape(out, what);
    } else if (byte >= 0x80) {
      --at_;
      append_utf8_sequence(out, what);
    } else {
      out += c;
    }
  }
}

std::uint32_t HeaderScanner::hex4(std::string_view what) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = next_of(what);
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<std::uint32_t>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<std::uint32_t>(c - 'A') + 10;
    } else {
      fail_at(here() - 1, fmt::format("{} holds a broken \\u escape", what));
    }
    value = value << 4U | digit;
  }
  return value;
}

void HeaderScanner::append_escape(std::string& out, std::string_view what) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char c = next_of(what);
  if (const std::size_t i = kLetters.find(c); i != std::string_view::npos) {
    out += kMeanings[i];
    return;
  }
  if (c != 'u') fail_at(here() - 1, fmt::format("{} holds an unknown escape", what));
  std::uint32_t code = hex4(what);
  if (code >= 0xD800 && code < 0xDC00) {  // the first half of a pair
    const bool second = next_of(what) == '\\' && next_of(what) == 'u';
    const std::uint32_t low = second ? hex4(what) : 0;
    if (low < 0xDC00 || low > 0xDFFF) {
      fail_at(here() - 1, fmt::format("{} holds half of a surrogate pair", what));
    }
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    fail_at(here() - 1, fmt::format("{} holds half of a surrogate pair", what));
  }
  append_code_point(out, code);
}

// One sequence of two to four bytes; overlong forms, surrogates and what lies past U+10FFFF are no
// UTF-8 (Unicode 15, table 3-7).
void HeaderScanner::append_utf8_sequence(std::string& out, std::string_view what) {
  const std::int64_t start = here();
  const auto byte_at = [this](std::size_t i) {
    return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0U;
  };
  const unsigned lead = byte_at(at_);
  std::size_t length = 0;
  unsigned least = 0x80;
  unsigned most = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (lead == 0xE0) least = 0xA0;
  if (lead == 0xED) most = 0x9F;
  if (lead == 0xF0) least = 0x90;
  if (lead == 0xF4) most = 0x8F;
  bool valid = length != 0 && byte_at(at_ + 1) >= least && byte_at(at_ + 1) <= most;
  for (std::size_t i = 2; i < length; ++i) {
    valid = valid && byte_at(at_ + i) >= 0x80 && byte_at(at_ + i) <= 0xBF;
  }
  if (!valid) fail_at(start, fmt::format("{} is not UTF-8", what));
  out.append(text_.substr(at_, length));
  at_ += length;
}

std::int64_t HeaderScanner::integer(std::string_view what) {
  skip_space();
  const std::int64_t start = here();
  const std::size_t first = at_;
  std::int64_t value = 0;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
        __builtin_add_overflow(value, std::int64_t{text_[at_] - '0'}, &value)) {
      fail_at(start, fmt::format("{} leaves the 64-bit range", what));
    }
    ++at_;
  }
  if (at_ == first) {
    fail_at(start, fmt::format("expected {}, an integer of at least 0, found {}", what, found()));
  }
  if (at_ - first > 1 && text_[first] == '0') {
    fail_at(start, fmt::format("{} has a leading zero", what));
  }
  if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E')) {
    fail_at(start, fmt::format("{} is not an integer", what));
  }
  return value;
}

void HeaderScanner::finish() {
  skip_space();
  if (at_ == text_.size()) return;
  fail_at(here(), fmt::format("found {} after the end of the header's object", found()),
          "the header is one JSON object, padded with spaces");
}

}  // namespace fourhold::model

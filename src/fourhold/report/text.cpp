#include "fourhold/report/text.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "fourhold/base/utf8.h"

namespace fourhold::report {
namespace {

// UTF-8 continuation bytes take no column of their own.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// Controls (C0, DEL, C1), and the marks that change the direction text runs in (Unicode Standard
// Annex 9, sec. 2: they can make a line read as what it is not).
bool obeyed_by_terminals(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// The bytes that the first `columns` characters take.
std::size_t bytes_of_columns(std::string_view text, int columns) {
  std::size_t at = 0;
  while (at < text.size() && columns > 0) {
    ++at;
    while (at < text.size() && !begins_character(text[at])) ++at;
    --columns;
  }
  return at;
}

// The word in pieces of at most `columns` that joined give it again: broken behind the last mark
// that parts names and paths, else where the room ends. A word of very many lines is cut first.
std::vector<std::string> pieces_of(std::string_view word, int columns) {
  constexpr int kMostLines = 6;
  constexpr std::string_view kMarks = "._/-,:=";
  std::string rest = shortened(word, columns * kMostLines);
  std::vector<std::string> pieces;
  while (columns_of(rest) > columns) {
    std::size_t bytes = bytes_of_columns(rest, columns);
    const std::size_t mark = rest.find_last_of(kMarks, bytes - 1);
    if (mark != std::string::npos && mark > 0) bytes = mark + 1;
    pieces.push_back(rest.substr(0, bytes));
    rest.erase(0, bytes);
  }
  pieces.push_back(std::move(rest));
  return pieces;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_character_at(text, at);
    const bool shown =
        character.code != Utf8Character::kInvalid && !obeyed_by_terminals(character.code);
    out += shown ? text.substr(at, character.bytes) : "?";
    at += character.bytes;
  }
  return out;
}

int columns_of(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string padded_right(std::string_view text, int columns) {
  std::string out(text);
  const int missing = columns - columns_of(text);
  if (missing > 0) out.append(static_cast<std::size_t>(missing), ' ');
  return out;
}

std::string padded_left(std::string_view text, int columns) {
  const int missing = columns - columns_of(text);
  return std::string(missing > 0 ? static_cast<std::size_t>(missing) : 0, ' ') + std::string(text);
}

std::string shortened(std::string_view text, int columns) {
  constexpr std::string_view kCut = "...";
  const int length = columns_of(text);
  if (length <= columns) return std::string(text);
  if (columns <= columns_of(kCut)) {
    return std::string(text.substr(0, bytes_of_columns(text, columns)));
  }
  // The end of a path says more than its start.
  const int kept = columns - columns_of(kCut);
  const int front = kept / 3;
  std::string out(text.substr(0, bytes_of_columns(text, front)));
  out += kCut;
  out += text.substr(bytes_of_columns(text, length - (kept - front)));
  return out;
}

std::vector<std::string> wrapped_lines(std::string_view text, int columns) {
  assert(columns >= 1 && "a line has room");
  std::vector<std::string> lines(1);
  const std::string clean = printable(text);
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t start = clean.find_first_not_of(' ', at);
    if (start == std::string::npos) break;
    const std::size_t end = std::min(clean.find(' ', start), clean.size());
    const std::string_view word = std::string_view(clean).substr(start, end - start);
    std::string& line = lines.back();
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) <= columns) {
      line.append(" ").append(word);
    } else {
      if (line.empty()) lines.pop_back();
      for (std::string& piece : pieces_of(word, columns)) lines.push_back(std::move(piece));
    }
    at = end;
  }
  return lines;
}

std::string wrapped(std::string_view text, int columns, std::string_view first) {
  const int indent = columns_of(first);
  std::string out;
  std::string before(first);
  for (const std::string& line : wrapped_lines(text, columns - indent)) {
    out += before + line + "\n";
    before.assign(static_cast<std::size_t>(indent), ' ');
  }
  return out;
}

std::string first_that_fits(std::initializer_list<std::string> candidates, int columns) {
  std::string last;
  for (const std::string& candidate : candidates) {
    last = printable(candidate);
    if (columns_of(last) <= columns) return last;
  }
  constexpr int kIndent = 2;
  std::string text;
  for (const std::string& line : wrapped_lines(last, columns - kIndent)) {
    text += (text.empty() ? "" : "\n  ") + line;
  }
  return text;
}

}  // namespace fourhold::report

#include "fourhold/measured/csv.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/measured/row_words.h"

namespace fourhold::measured {

std::string place_of(const CsvField& field, const std::string& where) {
  return fmt::format("{}:{}:{}", where, field.line, field.column);
}

CsvReader::CsvReader(std::string_view text, std::string where)
    : text_(text), where_(std::move(where)) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) at_ = kByteOrderMark.size();
  // A text in UTF-16 begins with its own mark, or has a zero beside every plain letter.
  const bool has_mark = starts_with(text_, "\xFF\xFE") || starts_with(text_, "\xFE\xFF");
  if (has_mark || text_.substr(0, 2).find('\0') != std::string_view::npos) {
    // UTF-32 has three of four bytes zero, so two neighbours among the first four.
    const bool is_wide = text_.substr(0, 4).find(std::string_view("\0\0", 2)) != std::string::npos;
    const char* name = is_wide ? "UTF-32" : "UTF-16";
    throw Error(where_ + ":1:1", fmt::format("is written in {}, not in UTF-8", name),
                fmt::format("save it as CSV in UTF-8, or convert it: iconv -f {} -t UTF-8 {}", name,
                            where_));
  }
}

bool CsvReader::at_line_break() const {
  return !at_end() && (text_[at_] == '\n' || text_[at_] == '\r');
}

void CsvReader::skip_line_break() {
  at_ += text_.substr(at_, 2) == "\r\n" ? 2 : 1;
  ++line_;
  column_ = 1;
}

// One character into the field.
void CsvReader::take(CsvField& field) {
  const char c = text_[at_++];
  field.text += c;
  if (c == '\n' || (c == '\r' && text_.substr(at_, 1) != "\n")) {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
}

void CsvReader::refuse(const CsvField& at, const std::string& what, const std::string& hint) const {
  throw Error(place_of(at, where_), what, hint);
}

void CsvReader::read_quoted(CsvField& field) {
  const CsvField opening = here();
  ++at_;
  ++column_;
  while (true) {
    if (at_end()) {
      refuse(opening, "this quote is never closed",
             "close it; a quote inside a quoted field is written twice");
    }
    if (text_[at_] != '"') {
      take(field);
      continue;
    }
    if (text_.substr(at_ + 1, 1) != "\"") break;
    ++at_;
    ++column_;
    take(field);
  }
  ++at_;
  ++column_;
  if (at_end() || text_[at_] == ',' || at_line_break()) return;
  refuse(here(), "a quoted field goes on behind its closing quote",
         "write a comma or a line break there, or the quote twice if it belongs to the field");
}

void CsvReader::read_field(CsvField& field) {
  field.line = line_;
  field.column = column_;
  if (!at_end() && text_[at_] == '"') {
    read_quoted(field);
    return;
  }
  while (!at_end() && text_[at_] != ',' && !at_line_break()) {
    if (text_[at_] == '"') {
      refuse(here(), "a quote stands inside a field that is not quoted",
             "quote the whole field, and write its own quotes twice");
    }
    take(field);
  }
}

bool CsvReader::next(std::vector<CsvField>& record) {
  while (at_line_break()) skip_line_break();
  if (at_end()) return false;
  record.clear();
  while (true) {
    if (record.size() == kMostFields) {
      refuse(here(), fmt::format("a record has more than {} fields", kMostFields),
             "the nearest valid number is that of the header");
    }
    read_field(record.emplace_back());
    if (at_end()) return true;
    if (at_line_break()) {
      skip_line_break();
      return true;
    }
    ++at_;  // the comma
    ++column_;
  }
}

}  // namespace fourhold::measured

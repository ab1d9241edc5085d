// Comma-separated values as RFC 4180 has them: quoted fields may hold commas, line breaks and
// doubled quotes. Lines end with LF, CR LF or CR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fourhold::measured {

struct CsvField {
  std::string text;
  std::int64_t line = 0;    // of its first character, from 1
  std::int64_t column = 0;  // in bytes, from 1
};

// "rows.csv:12:7".
[[nodiscard]] std::string place_of(const CsvField& field, const std::string& where);

// Reads record by record, so that a file of many short ones takes no more memory than its longest.
class CsvReader {
 public:
  // No file of ours has more columns; a record of more is refused before it fills the memory.
  static constexpr std::size_t kMostFields = 256;

  // `where` names the file in Errors; `text` must outlive the reader. A byte order mark is skipped;
  // Error for a text in UTF-16.
  CsvReader(std::string_view text, std::string where);

  // The next record that is no empty line; false at the end. Throws Error with file:line:column for
  // a quote that is not closed, stands inside a plain field or is followed by text, and for a
  // record of more than kMostFields.
  bool next(std::vector<CsvField>& record);

  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] bool at_line_break() const;
  void skip_line_break();
  void take(CsvField& field);
  void read_field(CsvField& field);
  void read_quoted(CsvField& field);
  [[noreturn]] void refuse(const CsvField& at, const std::string& what,
                           const std::string& hint) const;
  [[nodiscard]] CsvField here() const { return {{}, line_, column_}; }

  std::string_view text_;
  std::string where_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::int64_t column_ = 1;
};

}  // namespace fourhold::measured

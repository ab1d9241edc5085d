#include "fourhold/measured/measured_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/measured/row_facts.h"

namespace fourhold::measured {
namespace {

constexpr double kMostWhole = 9007199254740992.0;  // 2^53: every whole number below is exact

std::vector<std::string_view> column_names() {
  std::vector<std::string_view> names;
  const MeasuredRow row;
  visit_columns([&names](std::string_view name, const auto& /*field*/) { names.push_back(name); },
                row);
  return names;
}

// A decimal number in the C locale; nothing else around it.
std::optional<double> number_in(const std::string& text) {
  if (text.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) {
    return std::nullopt;
  }
  return value;
}

// What a field needs to be read and to be refused.
struct FieldOf {
  std::string_view column;
  const CsvField& field;
  const std::string& where;
  std::vector<std::string>& unusable;
};

[[noreturn]] void refuse(const FieldOf& of, const std::string& expected, const std::string& hint) {
  throw Error(place_of(of.field, of.where),
              fmt::format("{} is '{:.40}', not {}", of.column, of.field.text, expected), hint);
}

// A header whose names stand between other separators is one field.
void refuse_separator(const CsvField& field, const std::string& where,
                      const std::vector<std::string_view>& names) {
  constexpr std::array kSeparators{std::pair{';', "semicolons"}, std::pair{'\t', "tabs"},
                                   std::pair{'|', "bars"}};
  for (const auto& [separator, called] : kSeparators) {
    const std::string first = field.text.substr(0, field.text.find(separator));
    if (first.size() == field.text.size()) continue;
    if (std::find(names.begin(), names.end(), first) == names.end()) continue;
    throw Error(place_of(field, where),
                fmt::format("columns are separated by {}, not by commas", called),
                "save it as comma-separated values, with points in numbers (12.5)");
  }
}

void read(const FieldOf& of, std::string& out) { out = of.field.text; }

void read(const FieldOf& of, std::optional<double>& out) {
  out.reset();
  if (of.field.text.empty()) return;
  const std::optional<double> value = number_in(of.field.text);
  if (!value || !std::isfinite(*value) || *value < 0) {
    refuse(of, "a number of at least 0", "write it as 12.5, or leave it blank if it is not known");
  }
  out = value;
}

void read(const FieldOf& of, std::optional<std::int64_t>& out) {
  out.reset();
  std::optional<double> value;
  read(of, value);
  if (!value) return;
  if (*value != std::floor(*value) || *value < 1 || *value > kMostWhole) {
    of.unusable.push_back(
        fmt::format("{} is {:.40}, not a whole number above 0", of.column, of.field.text));
    return;
  }
  out = static_cast<std::int64_t>(*value);
}

void read(const FieldOf& of, std::optional<bool>& out) {
  out.reset();
  if (of.field.text.empty()) return;
  if (of.field.text != "yes" && of.field.text != "no") {
    refuse(of, "yes or no", "leave it blank if it is not known");
  }
  out = of.field.text == "yes";
}

}  // namespace

std::string_view MeasuredRow::family() const {
  const std::size_t dash = id.rfind('-');
  return std::string_view(id).substr(0, dash == 0 ? id.size() : dash);
}

std::string_view MeasuredRow::fact(std::string_view key) const {
  const auto found = facts.find(key);
  return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

bool MeasuredRow::says(std::string_view words) const {
  return notes.find(words) != std::string::npos;
}

RowReader::RowReader(std::string_view text, const std::string& where) : reader_(text, where) {
  if (!reader_.next(record_)) {
    throw Error(where + ":1:1", "holds no header", "begin with the line id,source,framework,...");
  }
  const std::vector<std::string_view> names = column_names();
  constexpr std::size_t kMissing = CsvReader::kMostFields;
  column_of_.assign(names.size(), kMissing);
  for (std::size_t i = 0; i < record_.size(); ++i) {
    const CsvField& field = record_[i];
    const auto found = std::find(names.begin(), names.end(), field.text);
    if (found == names.end()) {
      refuse_separator(field, where, names);
      const std::string near = did_you_mean(field.text, names);
      throw Error(place_of(field, where), fmt::format("'{:.60}' is not a column", field.text),
                  near.empty() ? fmt::format("the columns are {}", fmt::join(names, ", ")) : near);
    }
    std::size_t& column = column_of_[static_cast<std::size_t>(found - names.begin())];
    if (column != kMissing) {
      throw Error(place_of(field, where), fmt::format("column '{}' stands twice", field.text),
                  "leave one of them out");
    }
    column = i;
  }
  const auto missing = std::find(column_of_.begin(), column_of_.end(), kMissing);
  if (missing != column_of_.end()) {
    throw Error(place_of(record_.front(), where),
                fmt::format("column '{}' is missing",
                            names[static_cast<std::size_t>(missing - column_of_.begin())]),
                "add it, blank where it is not known");
  }
}

bool RowReader::next(MeasuredRow& row) {
  if (!reader_.next(record_)) return false;
  if (record_.size() != column_of_.size()) {
    throw Error(
        place_of(record_.front(), reader_.where()),
        fmt::format("the row has {} fields, the header {}", record_.size(), column_of_.size()),
        "quote fields that hold commas");
  }
  row.unusable.clear();
  std::size_t column = 0;
  visit_columns(
      [&](std::string_view name, auto& field) {
        read({name, record_[column_of_[column++]], reader_.where(), row.unusable}, field);
      },
      row);
  if (row.id.empty()) {
    throw Error(place_of(record_[column_of_[0]], reader_.where()), "the row has no id",
                "give it one, for example own-0001");
  }
  row.facts = facts_of(row.notes);
  return true;
}

std::vector<MeasuredRow> parse_rows(std::string_view text, const std::string& where) {
  RowReader reader(text, where);
  std::vector<MeasuredRow> rows;
  std::unordered_map<std::string, std::size_t> seen;
  for (MeasuredRow row; reader.next(row);) {
    if (!seen.emplace(row.id, rows.size()).second) {
      throw Error(where, fmt::format("id '{:.60}' stands twice", row.id),
                  "give every row an id of its own");
    }
    rows.push_back(std::move(row));
    row = {};
  }
  return rows;
}

}  // namespace fourhold::measured

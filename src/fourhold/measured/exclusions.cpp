#include "fourhold/measured/exclusions.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/measured/csv.h"
#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

constexpr std::size_t kColumns = 5;

// A column's value as text: whole numbers without a point.
std::string text_of(const MeasuredRow& row, std::string_view column) {
  std::string text;
  visit_columns(
      [&](std::string_view name, const auto& field) {
        if (name != column) return;
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>) {
          text = field;
        } else if constexpr (!std::is_same_v<std::decay_t<decltype(field)>, std::optional<bool>>) {
          if (field) text = fmt::format("{}", *field);
        }
      },
      row);
  return text;
}

bool is_column(std::string_view column) {
  bool found = false;
  const MeasuredRow row;
  visit_columns([&](std::string_view name, const auto& /*field*/) { found |= name == column; },
                row);
  return found;
}

}  // namespace

Exclusions::Exclusions(std::string_view text, const std::string& where) {
  CsvReader reader(text, where);
  std::vector<CsvField> record;
  reader.next(record);  // the header
  while (reader.next(record)) {
    if (record.size() != kColumns) {
      throw Error(place_of(record.front(), where),
                  fmt::format("has {} fields, not {}", record.size(), kColumns),
                  "write id,when,aspect,reason,source");
    }
    Entry entry;
    entry.id = record[0].text;
    std::string_view rest = record[1].text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('&'), rest.size());
      const std::string_view term = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::size_t middle = term.find_first_of("=~");
      const std::string_view column = term.substr(0, middle);
      if (middle == std::string_view::npos || !is_column(column)) {
        throw Error(place_of(record[1], where), fmt::format("'{}' names no column", term),
                    "write column=value or column~part");
      }
      entry.terms.push_back(
          {std::string(column), term[middle], std::string(term.substr(middle + 1))});
    }
    for (std::size_t i = 0; i < kAspectNames.size(); ++i) {
      entry.aspects.at(i) = record[2].text == "all" || record[2].text == kAspectNames.at(i);
    }
    if (std::none_of(entry.aspects.begin(), entry.aspects.end(), [](bool set) { return set; })) {
      throw Error(place_of(record[2], where), fmt::format("'{}' is no aspect", record[2].text),
                  "use memory, step_time, fit or all");
    }
    entry.reason = record[3].text;
    entries_.push_back(std::move(entry));
  }
}

bool Exclusions::matches(const Entry& entry, const MeasuredRow& row) {
  const std::string_view id = entry.id;
  const bool wild = !id.empty() && id.back() == '*';
  if (wild ? !starts_with(row.id, id.substr(0, id.size() - 1)) : row.id != id) return false;
  return std::all_of(entry.terms.begin(), entry.terms.end(), [&row](const Term& term) {
    const std::string value = text_of(row, term.column);
    return term.relation == '=' ? value == term.value : contains(value, term.value);
  });
}

std::string_view Exclusions::reason(const MeasuredRow& row, Aspect aspect) const {
  for (const Entry& entry : entries_) {
    if (entry.aspects.at(static_cast<std::size_t>(aspect)) && matches(entry, row)) {
      return entry.reason;
    }
  }
  return {};
}

}  // namespace fourhold::measured

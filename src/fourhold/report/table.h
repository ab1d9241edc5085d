// Tables of plain text: columns aligned, never wider than the screen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/report/screen.h"

namespace fourhold::report {

enum class Align : std::uint8_t { left, right };

// What a column does when the table is too wide: keeps its width, or breaks its cells into lines,
// whole: cut in the middle, names that differ would look the same. The widest column gives way
// first.
enum class WhenTight : std::uint8_t { keep, wrap };

struct Column {
  std::string title;  // all titles empty: no title line
  Align align = Align::left;
  WhenTight when_tight = WhenTight::keep;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  // Every line ended by a line break and indented by `indent` blanks; "" without rows.
  [[nodiscard]] std::string text(const Screen& screen, int indent = 0) const;

 private:
  [[nodiscard]] std::vector<int> widths(int available) const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells,
                                 const std::vector<int>& widths, int indent) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fourhold::report

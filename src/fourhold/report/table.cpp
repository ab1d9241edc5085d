#include "fourhold/report/table.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "fourhold/report/text.h"

namespace fourhold::report {
namespace {

constexpr int kGap = 2;          // blanks between columns
constexpr int kLeastWidth = 10;  // of a column that gives way

}  // namespace

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size() && "one cell per column");
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<int> Table::widths(int available) const {
  std::vector<int> widths(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths[i] = columns_of(columns_[i].title);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  const int gaps = kGap * (static_cast<int>(columns_.size()) - 1);
  // The widest of the columns that may give way does, column by column of the screen.
  for (int excess = std::accumulate(widths.begin(), widths.end(), gaps) - available; excess > 0;
       --excess) {
    int* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const int least = std::max(kLeastWidth, columns_of(columns_[i].title));
      if (columns_[i].when_tight == WhenTight::keep || widths[i] <= least) continue;
      if (widest == nullptr || widths[i] >= *widest) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<int>& widths,
                        int indent) const {
  std::vector<std::vector<std::string>> pieces;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (columns_[i].when_tight == WhenTight::wrap) {
      pieces.push_back(wrapped_lines(cells[i], widths[i]));
    } else {
      pieces.push_back({cells[i]});
    }
    height = std::max(height, pieces.back().size());
  }
  std::string out;
  for (std::size_t row = 0; row < height; ++row) {
    std::string text(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0) text.append(kGap, ' ');
      const std::string piece = row < pieces[i].size() ? pieces[i][row] : std::string();
      text += columns_[i].align == Align::left ? padded_right(piece, widths[i])
                                               : padded_left(piece, widths[i]);
    }
    const std::size_t end = text.find_last_not_of(' ');
    text.erase(end == std::string::npos ? 0 : end + 1);
    out += text + "\n";
  }
  return out;
}

std::string Table::text(const Screen& screen, int indent) const {
  if (rows_.empty()) return {};
  const std::vector<int> fitted = widths(screen.columns - indent);
  std::string out;
  std::vector<std::string> titles;
  bool titled = false;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    titled = titled || !column.title.empty();
  }
  if (titled) out += painted(line(titles, fitted, indent), Ink::weak, screen);
  for (const auto& row : rows_) out += line(row, fitted, indent);
  return out;
}

}  // namespace fourhold::report

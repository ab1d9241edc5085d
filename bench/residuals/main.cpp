// fourhold_residuals [FILE.csv ...]: how far the measured rows are from what is predicted now, as
// data/calibration/residuals.json, on standard output. Without files: the rows that are built in.
// fourhold_residuals --check: whether the table that is built in says the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/measured/comparison.h"
#include "fourhold/measured/row_confidence.h"
#include "fourhold/measured/row_files.h"

namespace {

using namespace fourhold;

std::vector<measured::RowResult> compare(const std::vector<std::string>& files) {
  const measured::Exclusions exclusions(measured::excluded_text(), "excluded.csv");
  measured::Catalogue catalogue;
  std::vector<measured::RowResult> results;
  const auto add = [&](const std::vector<measured::MeasuredRow>& rows) {
    for (const measured::MeasuredRow& row : rows) {
      results.push_back(measured::compare_row(row, exclusions, catalogue, 0));
    }
  };
  for (const std::string& file : files) add(measured::read_row_file(file));
  if (files.empty()) add(measured::builtin_rows());
  return results;
}

// One entry a line, so that a change of one profile is a change of its lines.
void print(const json::Value& table) {
  fmt::print("{{\n");
  for (const auto& [name, value] : table.object()) {
    if (!value.is_array()) {
      fmt::print("  \"{}\": {},\n", name, json::write(value, json::Layout::one_line));
      continue;
    }
    fmt::print("  \"{}\": [", name);
    const char* separator = "\n";
    for (const json::Value& entry : value.array()) {
      fmt::print("{}    {}", separator, json::write(entry, json::Layout::one_line));
      separator = ",\n";
    }
    fmt::print("\n  ]\n");
  }
  fmt::print("}}\n");
}

bool is_same(const confidence::ResidualEntry& a, const confidence::ResidualEntry& b) {
  // Other compilers add up in another order, which may change the last digit that is kept.
  constexpr double kLastDigit = 2e-4;
  if (a.profile != b.profile || a.generation != b.generation || a.metric != b.metric ||
      a.model != b.model || a.rows != b.rows || a.log_ratios.size() != b.log_ratios.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.log_ratios.size(); ++i) {
    if (std::abs(a.log_ratios[i] - b.log_ratios[i]) > kLastDigit) return false;
  }
  return true;
}

// 1 where they differ, with the first entry that does.
int check() {
  const confidence::ResidualTable builtin = confidence::builtin_residuals();
  const confidence::ResidualTable now = measured::residuals_of(compare({}));
  for (std::size_t i = 0; i < now.entries().size(); ++i) {
    const confidence::ResidualEntry& entry = now.entries()[i];
    if (i < builtin.entries().size() && is_same(builtin.entries()[i], entry)) continue;
    fmt::print(stderr, "{} of {} on {} is not what is predicted now: run scripts/residuals\n",
               entry.model, entry.profile, entry.generation);
    return 1;
  }
  return builtin.entries().size() == now.entries().size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--check") return check();
    print(confidence::to_json(measured::residuals_of(compare({argv + 1, argv + argc}))));
    return 0;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "{}\n", fault.what());
    return 2;
  }
}

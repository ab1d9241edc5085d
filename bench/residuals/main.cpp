// fourhold_residuals [FILE.csv ...]: how far the measured rows are from what is predicted now, as
// data/calibration/residuals.json, on standard output. Without files: the rows that are built in.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/base/text_file.h"
#include "fourhold/measured/builtin_rows.h"
#include "fourhold/measured/comparison.h"
#include "fourhold/measured/row_confidence.h"

namespace {

using namespace fourhold;

constexpr std::int64_t kMostFileBytes = std::int64_t{256} << 20;

std::vector<measured::RowResult> compare(const std::vector<std::string>& files) {
  const measured::Exclusions exclusions(measured::excluded_text(), "excluded.csv");
  measured::Catalogue catalogue;
  std::vector<measured::RowResult> results;
  const auto add = [&](std::string_view text, const std::string& where) {
    for (const measured::MeasuredRow& row : measured::parse_rows(text, where)) {
      results.push_back(measured::compare_row(row, exclusions, catalogue, 0));
    }
  };
  for (const std::string& file : files) add(read_text_file(file, kMostFileBytes), file);
  if (files.empty()) {
    for (const EmbeddedFile& file : measured::embedded_rows()) {
      add(file.text, std::string(file.name) + ".csv");
    }
  }
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

}  // namespace

int main(int argc, char** argv) {
  try {
    print(confidence::to_json(measured::residuals_of(compare({argv + 1, argv + argc}))));
    return 0;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "{}\n", fault.what());
    return 2;
  }
}

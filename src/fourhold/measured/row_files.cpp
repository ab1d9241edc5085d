#include "fourhold/measured/row_files.h"

#include <cstdint>
#include <iterator>

#include "fourhold/base/text_file.h"

namespace fourhold::measured {
namespace {

constexpr std::int64_t kMostRowFileBytes = std::int64_t{256} << 20;

}  // namespace

std::vector<MeasuredRow> builtin_rows() {
  std::vector<MeasuredRow> rows;
  for (const EmbeddedFile& file : embedded_rows()) {
    std::vector<MeasuredRow> more = parse_rows(file.text, std::string(file.name) + ".csv");
    rows.insert(rows.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  }
  return rows;
}

std::vector<MeasuredRow> read_row_file(const std::string& path) {
  return parse_rows(read_text_file(path, kMostRowFileBytes), path);
}

}  // namespace fourhold::measured

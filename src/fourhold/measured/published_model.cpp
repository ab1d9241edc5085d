#include "fourhold/measured/published_model.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/measured/csv.h"
#include "fourhold/measured/model_family.h"

namespace fourhold::measured {
namespace {

struct PublishedSizes {
  std::string model;
  std::array<std::optional<std::int64_t>, 6> sizes;  // in the order of the columns
  std::string source;
};

// Columns: model,layers,hidden,heads,kv_heads,ffn,vocab,source.
std::vector<PublishedSizes> read_sizes() {
  CsvReader reader(published_models_text(), "data/measured/tables/models.csv");
  std::vector<CsvField> record;
  reader.next(record);
  std::vector<PublishedSizes> list;
  while (reader.next(record)) {
    PublishedSizes one;
    one.model = folded_model_name(record.at(0).text);
    for (std::size_t i = 0; i < one.sizes.size(); ++i) {
      const CsvField& field = record.at(i + 1);
      if (!field.text.empty())
        one.sizes[i] = parse_count(field.text, place_of(field, "models.csv"));
    }
    one.source = record.at(one.sizes.size() + 1).text;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

void fill_published_sizes(MeasuredRow& row, Findings& findings) {
  if (row.layers && row.hidden && row.heads) return;
  static const std::vector<PublishedSizes> list = read_sizes();
  const std::string name = folded_model_name(row.model);
  for (const PublishedSizes& one : list) {
    if (one.model != name) continue;
    std::size_t next = 0;
    for (std::optional<std::int64_t>* size :
         {&row.layers, &row.hidden, &row.heads, &row.kv_heads, &row.ffn, &row.vocab}) {
      if (!size->has_value()) *size = one.sizes.at(next);
      ++next;
    }
    findings.assumes(fmt::format("sizes of {} are those of {}", row.model, one.source));
    return;
  }
}

}  // namespace fourhold::measured

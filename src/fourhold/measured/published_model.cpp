#include "fourhold/measured/published_model.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/measured/csv.h"
#include "fourhold/measured/model_family.h"

namespace fourhold::measured {
namespace {

constexpr std::string_view kFile = "data/measured/tables/models.csv";

// A line of the file. What is blank in it is not published either.
struct PublishedSizes {
  std::string model;
  std::string gpu;  // the run's device; blank = the sizes hold for any
  std::array<std::optional<std::int64_t>, 10> sizes;  // in the order of the columns
  std::string recompute;
  std::string source;
};

// Columns: model,gpu,layers,hidden,heads,kv_heads,ffn,vocab,head_dim,seq_len,micro_batch,tp,
// recompute,source. From seq_len on they are of the runs that the source publishes with the model.
std::vector<PublishedSizes> read_sizes() {
  CsvReader reader(published_models_text(), std::string(kFile));
  std::vector<CsvField> record;
  reader.next(record);
  std::vector<PublishedSizes> list;
  while (reader.next(record)) {
    PublishedSizes one;
    one.model = folded_model_name(record.at(0).text);
    one.gpu = record.at(1).text;
    std::size_t column = 2;
    for (std::optional<std::int64_t>& size : one.sizes) {
      const CsvField& field = record.at(column++);
      if (!field.text.empty()) size = parse_count(field.text, place_of(field, "models.csv"));
    }
    one.recompute = record.at(column++).text;
    one.source = record.at(column).text;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

void fill_published_sizes(MeasuredRow& row, Findings& findings) {
  const bool sized = row.layers && row.hidden && row.heads;
  if (sized && row.micro_batch) return;
  static const std::vector<PublishedSizes> list = read_sizes();
  const std::string name = folded_model_name(row.model);
  for (const PublishedSizes& one : list) {
    const bool is_run = !one.gpu.empty();
    if (one.model != name || (is_run ? one.gpu != row.gpu : sized)) continue;
    std::size_t next = 0;
    for (std::optional<std::int64_t>* size :
         {&row.layers, &row.hidden, &row.heads, &row.kv_heads, &row.ffn, &row.vocab, &row.head_dim,
          &row.seq_len, &row.micro_batch, &row.tp}) {
      if (!size->has_value()) *size = one.sizes.at(next);
      ++next;
    }
    if (row.recompute.empty()) row.recompute = one.recompute;
    findings.assumes(fmt::format("sizes of {} are those of {}", row.model, one.source));
    return;
  }
}

}  // namespace fourhold::measured

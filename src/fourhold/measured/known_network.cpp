#include "fourhold/measured/known_network.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/parse_number.h"
#include "fourhold/measured/csv.h"

namespace fourhold::measured {
namespace {

struct FamilyNetwork {
  std::string family;
  hardware::Link link;
};

double rate_in(const CsvField& field) {
  if (const auto value = parse_number(field.text)) return *value;
  throw Error(place_of(field, "networks.csv"), fmt::format("'{}' is no number", field.text),
              "write it as in 50e9");
}

// Columns: family,name,bytes_per_second,share,start_seconds,hop_seconds,source.
std::vector<FamilyNetwork> read_networks() {
  CsvReader reader(networks_text(), "networks.csv");
  std::vector<CsvField> record;
  reader.next(record);
  std::vector<FamilyNetwork> networks;
  while (reader.next(record)) {
    FamilyNetwork one;
    one.family = record.at(0).text;
    one.link.name = record.at(1).text;
    std::size_t next = 2;
    for (double* value : {&one.link.bytes_per_second, &one.link.share, &one.link.start_seconds,
                          &one.link.hop_seconds}) {
      *value = rate_in(record.at(next++));
    }
    networks.push_back(std::move(one));
  }
  return networks;
}

}  // namespace

const hardware::Link* known_network(std::string_view family) {
  static const std::vector<FamilyNetwork> networks = read_networks();
  for (const FamilyNetwork& one : networks) {
    if (one.family == family) return &one.link;
  }
  return nullptr;
}

}  // namespace fourhold::measured

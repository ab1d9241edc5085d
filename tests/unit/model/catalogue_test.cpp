#include "fourhold/model/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

struct Published {
  std::string name;
  std::int64_t total = 0;
  std::int64_t active = 0;     // 0 = dense
  std::int64_t published = 0;  // 0 = not stated
  std::string verified;
};

// The first five columns of data/models/published_totals.csv hold no quotes.
std::vector<Published> published_totals() {
  std::ifstream file(FOURHOLD_SOURCE_DIR "/data/models/published_totals.csv");
  std::string line;
  std::getline(file, line);
  std::vector<Published> rows;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::vector<std::string> cells(5);
    for (std::string& cell : cells) std::getline(fields, cell, ',');
    const auto number = [](const std::string& text) { return text.empty() ? 0 : std::stoll(text); };
    rows.push_back({cells[0], number(cells[1]), number(cells[2]), number(cells[3]), cells[4]});
  }
  return rows;
}

TEST(Catalogue, EveryModelOfTheTotalsIsBuiltIn) {
  std::vector<std::string> names;
  for (const Published& row : published_totals()) names.push_back(row.name);
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> built_in = catalogue_names();
  EXPECT_EQ(std::vector<std::string>(built_in.begin(), built_in.end()), names);
  EXPECT_EQ(names.size(), 46U);
}

TEST(Catalogue, EveryCountIsExact) {
  int counted = 0;
  for (const Published& row : published_totals()) {
    if (row.verified == "rounded") continue;
    const ModelConfig config = read_hf_config(*catalogue_text(row.name), row.name);
    const ParameterCounts counts = count_parameters(config);
    EXPECT_EQ(counts.total, row.total) << row.name;
    EXPECT_EQ(counts.active, row.active != 0 ? row.active : row.total) << row.name;
    ++counted;
  }
  EXPECT_EQ(counted, 45);
}

TEST(Catalogue, ExtrasExplainThePublishedTotalToTheElement) {
  int explained = 0;
  for (const Published& row : published_totals()) {
    if (row.verified != "exact-after-known-extras") continue;
    const ModelConfig config = read_hf_config(*catalogue_text(row.name), row.name);
    EXPECT_EQ(row.total + extra_elements(config), row.published) << row.name;
    ++explained;
  }
  EXPECT_EQ(explained, 7);
}

// The one built-in model of another kind: named and refused, never miscounted.
TEST(Catalogue, AMambaHybridIsRefusedByName) {
  const Error error = [] {
    try {
      static_cast<void>(read_hf_config(*catalogue_text("nemotron-h-56b"), "nemotron-h-56b"));
    } catch (const Error& refusal) {
      return refusal;
    }
    return Error("", "accepted");
  }();
  EXPECT_EQ(error.where(), "nemotron-h-56b: model_type");
  EXPECT_NE(std::string(error.what()).find("hybrid of attention and Mamba layers"),
            std::string::npos);
}

TEST(Catalogue, AnUnknownNameHasNoText) {
  EXPECT_FALSE(catalogue_text("gpt-5").has_value());
  EXPECT_FALSE(catalogue_text("").has_value());
}

TEST(Catalogue, NamesAreSorted) {
  const std::vector<std::string_view> names = catalogue_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

}  // namespace
}  // namespace fourhold::model

// The small tables beside the rows.
#include <span>
#include <string_view>

#include "fourhold/base/embedded.h"
#include "fourhold/measured/exclusions.h"
#include "fourhold/measured/knowledge.h"
#include "fourhold/measured/known_network.h"
#include "fourhold/measured/published_model.h"

namespace fourhold::measured {

std::span<const EmbeddedFile> embedded_tables();  // data/measured/tables/*.csv, a generated source

// data/calibration/time.json, another generated source.
std::span<const EmbeddedFile> embedded_calibration();

namespace {

std::string_view fact_table(std::string_view name) {
  for (const EmbeddedFile& file : embedded_tables()) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace

std::string_view excluded_text() { return fact_table("excluded"); }
std::string_view time_calibration_text() { return embedded_calibration().front().text; }
std::string_view fitted_text() { return fact_table("fitted"); }
std::string_view networks_text() { return fact_table("networks"); }
std::string_view published_models_text() { return fact_table("models"); }

}  // namespace fourhold::measured

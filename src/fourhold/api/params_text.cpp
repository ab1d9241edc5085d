// What `fourhold params` prints.
#include <fmt/format.h>

#include "fourhold/api/params.h"
#include "fourhold/api/run_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string active_line(const ParamsResult& result, const report::Screen& screen) {
  if (!result.active) {
    return report::wrapped(
        "Counted from stored weights: which are active for one token is not in them.",
        screen.columns);
  }
  const std::string embedding = format_count(*result.embedding);
  if (*result.active == result.total) {
    return report::first_that_fits(
               {fmt::format("All are active for every token; {} are the token embedding.",
                            embedding),
                fmt::format("All are active; {} are the embedding.", embedding)},
               screen.columns) +
           "\n";
  }
  return report::first_that_fits(
             {fmt::format("{} are active for one token; {} are the token embedding.",
                          format_count(*result.active), embedding),
              fmt::format("{} are active for one token.", format_count(*result.active))},
             screen.columns) +
         "\n";
}

}  // namespace

std::string to_text(const ParamsResult& result, const report::Screen& screen) {
  const std::string count = fmt::format(": {} parameters", format_count(result.total));
  std::string text = report::shortened(report::printable(result.name),
                                       screen.columns - report::columns_of(count)) +
                     count + "\n";
  text += active_line(result, screen);
  text += report::wrapped(
      fmt::format("Weights alone: {} in 16 bits, {} in 32 bits.",
                  format_bytes(Bytes(result.total) * 2), format_bytes(Bytes(result.total) * 4)),
      screen.columns);

  report::Table table({{"module", report::Align::left, report::WhenTight::wrap},
                       {"shape", report::Align::left, report::WhenTight::wrap},
                       {"each", report::Align::right},
                       {"copies", report::Align::right},
                       {"total", report::Align::right}});
  for (const Module& module : result.modules) {
    table.add({module.name, shape_text(module.shape), format_count(module.count),
               format_count(module.copies), format_count(module.total())});
  }
  text += "\n" + table.text(screen);
  if (!result.notes.empty()) text += "\n";
  for (const std::string& note : result.notes) {
    text += report::wrapped(note, screen.columns, "Note    ");
  }
  return text;
}

}  // namespace fourhold::api

// fourhold_calibrate [FILE.csv ...] [--rows] [--constants FILE] [--set NAME=VALUE ...]: step times
// of measured rows under constants that need not be those of the data files.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "calibrate/constants.h"
#include "calibrate/errors.h"
#include "calibrate/timed_rows.h"
#include "fourhold/base/error.h"
#include "fourhold/base/parse_number.h"

namespace {

using namespace fourhold;

struct Arguments {
  std::vector<std::string> files;
  std::string constants;
  std::vector<std::string> set;
  bool rows = false;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto operand = [&] {
      if (i + 1 == words.size()) throw Error(words[i], "needs a value", "see the source");
      return words[++i];
    };
    if (words[i] == "--rows") {
      arguments.rows = true;
    } else if (words[i] == "--constants") {
      arguments.constants = operand();
    } else if (words[i] == "--set") {
      arguments.set.push_back(operand());
    } else {
      arguments.files.push_back(words[i]);
    }
  }
  return arguments;
}

std::vector<double> values_of(const std::vector<calibrate::Constant>& constants,
                              const Arguments& arguments) {
  std::vector<double> values;
  for (const calibrate::Constant& one : constants) values.push_back(one.prior);
  for (const std::string& set : arguments.set) {
    const std::size_t equals = set.find('=');
    bool known = false;
    for (std::size_t i = 0; i < constants.size(); ++i) {
      if (constants[i].name != set.substr(0, equals)) continue;
      values[i] = std::stod(set.substr(equals + 1));
      known = true;
    }
    if (!known) throw Error("--set", fmt::format("'{}' is no constant", set), "see the file");
  }
  return values;
}

void run(const Arguments& arguments) {
  const std::vector<measured::MeasuredRow> rows = calibrate::read_rows(arguments.files);
  measured::Adjustments adjustments;
  std::vector<calibrate::Constant> constants;
  std::vector<double> values;
  if (!arguments.constants.empty()) {
    constants = calibrate::read_constants(arguments.constants);
    values = values_of(constants, arguments);
    adjustments.device = [&](hardware::Device& device) {
      calibrate::apply(constants, values, device);
    };
    adjustments.profile = [&](plan::Profile& profile) {
      calibrate::apply(constants, values, profile);
    };
  }
  measured::Catalogue catalogue(adjustments);
  const std::vector<calibrate::TimedRow> timed = calibrate::timed_rows(rows, catalogue);
  if (arguments.rows) {
    for (const calibrate::TimedRow& row : timed) {
      fmt::print("{}\t{}\t{:.5g}\t{:.5g}\t{:+.1f}\t", row.id, row.sweep, row.measured_seconds,
                 row.predicted_seconds, row.error_percent());
      predict::visit_parts(
          [](const char* name, double seconds) {
            if (seconds > 0) fmt::print(" {}={:.3g}", name, seconds);
          },
          row.parts);
      fmt::print("\n");
    }
  }
  fmt::print("{}", calibrate::errors_text(timed));
}

}  // namespace

int main(int count, char** words) {
  try {
    run(parse({words + 1, words + count}));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

// fourhold_calibrate [FILE.csv ...] [--rows] [--constants FILE [--set NAME=VALUE ...] [--fit]
// [--write FILE]]: step times of measured rows under constants that need not be those of the data
// files, and constants that fit them.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "calibrate/constants.h"
#include "calibrate/errors.h"
#include "calibrate/fit.h"
#include "calibrate/report.h"
#include "calibrate/timed_rows.h"
#include "fourhold/base/error.h"
#include "fourhold/base/parse_number.h"

namespace {

using namespace fourhold;

struct Arguments {
  std::vector<std::string> files;
  bool fit = false;
  std::string write;
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
    if (words[i] == "--fit") {
      arguments.fit = true;
    } else if (words[i] == "--write") {
      arguments.write = operand();
    } else if (words[i] == "--rows") {
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
      values[i] = parse_number(set.substr(equals + 1)).value_or(values[i]);
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
  const calibrate::Predict predict = [&](const std::vector<double>& these) {
    values = these;
    measured::Catalogue catalogue(adjustments);
    return calibrate::timed_rows(rows, catalogue);
  };
  std::vector<calibrate::TimedRow> timed = predict(values);
  if (arguments.fit) {
    const calibrate::Fit fit = calibrate::fit(constants, predict);
    const calibrate::CrossValidation validation =
        calibrate::cross_validate(constants, fit, predict);
    fmt::print("{}", calibrate::report_text(constants, timed, fit, validation));
    if (!arguments.write.empty()) {
      std::ofstream(arguments.write) << calibrate::report_json(constants, fit, validation);
    }
    timed = fit.rows;
  }
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
  if (!arguments.fit) fmt::print("{}", calibrate::errors_text(timed));
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

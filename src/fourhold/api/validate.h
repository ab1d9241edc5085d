// `fourhold validate`: published measurements, replayed: predicted beside measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/api/target.h"
#include "fourhold/base/json.h"
#include "fourhold/confidence/residual_mixture.h"
#include "fourhold/measured/knowledge.h"
#include "fourhold/measured/record.h"
#include "fourhold/report/scatter_svg.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct ValidateRequest {
  std::vector<std::string> files;
  bool builtin = false;
  std::string source;
  std::optional<double> headroom;
  std::optional<double> confidence;
  bool rows = false;
  std::string svg;
};

template <class Visitor>
void visit_options(Visitor&& visit, ValidateRequest& request) {
  visit(Option{{"files", "files of measured rows, with the header of data/measured"},
               OptionGroup::operand,
               ValueKind::file,
               "FILE.csv"},
        request.files);
  visit(Option{{"builtin", "the rows that ship with the program"},
               OptionGroup::question,
               ValueKind::flag},
        request.builtin);
  visit(Option{{"source", "only rows of this source: what stands before the number of an id"},
               OptionGroup::question,
               ValueKind::text},
        request.source);
  visit(Option{{"headroom",
                "share of the device that must stay free to fit, such as 10%",
                {},
                {0, 0.99}},
               OptionGroup::question,
               ValueKind::number},
        request.headroom);
  visit(Option{{"confidence",
                "a second table: said to fit where that is at least as probable as this, 80% if "
                "not given",
                {},
                kConfidenceRange},
               OptionGroup::question,
               ValueKind::number},
        request.confidence);
  visit(Option{{"rows", "print every row, with what was assumed or why it was skipped"},
               OptionGroup::output,
               ValueKind::flag},
        request.rows);
  visit(Option{{"svg", "draw predicted against measured into this file"},
               OptionGroup::output,
               ValueKind::file},
        request.svg);
}

struct ValidateResult {
  measured::Record record;
  std::vector<measured::KnowledgeLine> knowledge;
  std::vector<measured::LeftOutLine> left_out;
  bool rows = false;  // whether the text lists them
  double headroom = 0;
  double confidence = confidence::kIntervalCoverage;
  double seconds = 0;  // of predicting all rows
};

// Throws Error where no rows are named, a file is none of rows, or no row is of the source.
[[nodiscard]] ValidateResult validate(const ValidateRequest& request);

[[nodiscard]] json::Value to_json(const ValidateResult& result);
[[nodiscard]] std::string to_text(const ValidateResult& result, const report::Screen& screen);
[[nodiscard]] std::vector<report::ScatterPanel> scatter_of(const ValidateResult& result);

}  // namespace fourhold::api

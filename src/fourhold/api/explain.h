// `fourhold explain`: every entry of one stage's ledger, and why it is alive at the peak.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run.h"
#include "fourhold/base/json.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct ExplainRequest {
  RunRequest run;
  std::optional<std::int64_t> stage;  // the fullest one where not given
};

template <class Visitor>
void visit_options(Visitor&& visit, ExplainRequest& request) {
  visit_run_options(visit, request.run);
  visit(Option{{"stage",
                "pipeline stage to list, from 0; the fullest one if not given",
                {0, std::int64_t{1} << 20}},
               OptionGroup::question,
               ValueKind::number},
        request.stage);
}

struct ExplainResult {
  std::string name;
  model::ParameterCounts counts;
  PlannedRun planned;
  std::string device;
  std::int64_t stage = 0;
  std::vector<std::size_t> order;  // entries by bytes at the peak, then bytes held, then as listed
  std::vector<std::string> chosen;
  std::vector<std::string> notes;

  [[nodiscard]] const ledger::Ledger& ledger() const {
    return planned.memory.stages[static_cast<std::size_t>(stage)].ledger;
  }
};

// Error for a stage the plan does not have.
[[nodiscard]] ExplainResult explain(const ExplainRequest& request);

// Holds the ledger as "fourhold.ledger/1" too, for `compare`.
[[nodiscard]] json::Value to_json(const ExplainResult& result);
[[nodiscard]] std::string to_text(const ExplainResult& result, const report::Screen& screen);

}  // namespace fourhold::api

// `fourhold compare`: two ledgers, entry by entry.
#pragma once

#include <string>

#include "fourhold/api/option.h"
#include "fourhold/base/json.h"
#include "fourhold/ledger/compare.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct CompareRequest {
  std::string a;
  std::string b;
};

template <class Visitor>
void visit_options(Visitor&& visit, CompareRequest& request) {
  visit(Option{{"a", "a ledger file: what `explain --json` writes, or the ledger alone"},
               OptionGroup::operand,
               ValueKind::file},
        request.a);
  visit(Option{{"b", "the ledger to compare with it"}, OptionGroup::operand, ValueKind::file},
        request.b);
}

struct CompareResult {
  std::string a;
  std::string b;
  ledger::Comparison comparison;
};

// Error for a missing operand and for whatever is no ledger.
[[nodiscard]] CompareResult compare(const CompareRequest& request);

[[nodiscard]] json::Value to_json(const CompareResult& result);
[[nodiscard]] std::string to_text(const CompareResult& result, const report::Screen& screen);

}  // namespace fourhold::api

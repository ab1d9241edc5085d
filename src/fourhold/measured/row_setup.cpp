#include "fourhold/measured/row_setup.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/measured/framework_rule.h"
#include "fourhold/measured/published_model.h"
#include "fourhold/measured/row_cluster.h"
#include "fourhold/measured/row_figures.h"
#include "fourhold/measured/row_model.h"
#include "fourhold/measured/row_plan.h"
#include "fourhold/measured/row_words.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::measured {
namespace {

// The run happened, so its framework can do what it did.
void allow_what_ran(RowDraft& draft) {
  plan::Profile& profile = draft.profile;
  std::vector<int>& stages = profile.zero_stages;
  const int zero = draft.request.zero.value_or(0);
  if (std::find(stages.begin(), stages.end(), zero) == stages.end()) stages.push_back(zero);
  profile.splits.assign(plan::kSplitNames.begin(), plan::kSplitNames.end());
}

// GPT-3 sizes among a Llama-like source's rows.
ModelStyle style_of(const MeasuredRow& row, const FrameworkRule& rule) {
  const std::string model = lowered(row.model);
  if (rule.style == ModelStyle::llama && starts_with(model, "gpt3")) return ModelStyle::gpt2;
  return rule.style;
}

// fp8 and fp4 of the linears of layers, where the device has such products.
void read_products(const MeasuredRow& row, RowDraft& draft) {
  const std::string precision = lowered(row.precision);
  const hardware::PeakFlops& peak = draft.cluster.device.peak_flops;
  if (contains(precision, "fp4") && peak.fp4 > 0) {
    draft.profile.time.products = plan::ProductFormat::fp4;
  } else if ((contains(precision, "fp8") || contains(precision, "float8") ||
              contains(precision, "fp4")) &&
             peak.fp8 > 0) {
    draft.profile.time.products = plan::ProductFormat::fp8;
  } else {
    return;
  }
  const bool keeps_weights = draft.profile.product_weights == plan::ProductWeights::kept;
  draft.findings.assumes(keeps_weights ? "attention and head are as in bf16"
                                       : "weights, attention and head are as in bf16");
}

RowReading skipped(std::string why, Findings findings) {
  return {.setup = std::nullopt, .skipped = std::move(why), .assumed = std::move(findings.assumed)};
}

}  // namespace

RowReading setup_of(const MeasuredRow& published, Catalogue& catalogue) {
  RowDraft draft(catalogue);
  MeasuredRow row = published;
  fill_published_sizes(row, draft.findings);
  if (!row.unusable.empty()) return skipped(row.unusable.front(), {});
  const FrameworkRule* rule = rule_of(row);
  if (rule == nullptr) {
    return skipped(row.framework.empty()
                       ? std::string("framework is not published")
                       : fmt::format("framework '{:.60}' is not known", row.framework),
                   {});
  }
  draft.profile = catalogue.profile(std::string(rule->profile));
  try {
    read_cluster(row, draft);
    auto config = model_of(row, style_of(row, *rule), catalogue, draft.findings);
    read_plan(row, *rule, draft);
    check_figures(row, draft);
    if (!draft.findings.complete()) {
      const std::string why = draft.findings.missing_text();
      return skipped(why, std::move(draft.findings));
    }
    draft.config = *std::move(config);
    if (rule->refine != nullptr) rule->refine(row, draft);
    read_products(row, draft);
    draft.profile.workspaces = plan::workspaces_of(draft.cluster.device.compute_capability);
    allow_what_ran(draft);
    RowReading reading;
    reading.setup = RowSetup{.config = {},
                             .profile = {},
                             .plan = plan::complete(draft.request, draft.config, draft.profile),
                             .cluster = std::move(draft.cluster),
                             .stage = rule->stage};
    reading.setup->config = std::move(draft.config);
    reading.setup->profile = std::move(draft.profile);
    reading.assumed = std::move(draft.findings.assumed);
    return reading;
  } catch (const Error& refusal) {
    return skipped(fmt::format("no plan says it: {} {}", refusal.where(), refusal.what()),
                   std::move(draft.findings));
  }
}

}  // namespace fourhold::measured

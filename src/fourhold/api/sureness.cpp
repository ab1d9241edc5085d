#include "fourhold/api/sureness.h"

#include <cmath>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/report/duration.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

SureInterval sure_interval(const confidence::Basis& basis, double predicted) {
  return {.range = confidence::interval_of(basis.residuals, predicted),
          .metric = basis.metric,
          .basis = confidence::basis_text(basis),
          .scope = basis.scope,
          .rows = basis.rows,
          .models = basis.models};
}

Bytes rounded_bytes(double count) { return Bytes(std::llround(count)); }

double probability_of(const RunResiduals& residuals, const predict::MemoryPrediction& memory,
                      const predict::Capacity& capacity) {
  const bool host_is_short = predict::shortfall_of(memory, capacity).host > Bytes(0);
  if (host_is_short) return 0;
  if (residuals.exact_bytes) return memory.needed_bytes <= capacity.usable_bytes ? 1 : 0;
  return confidence::probability_within(residuals.memory->residuals,
                                        static_cast<double>(memory.needed_bytes.count()),
                                        static_cast<double>(capacity.usable_bytes.count()));
}

// "93%"; what is not quite sure is never called so.
std::string probability_text(double probability) {
  if (probability > 0.995 && probability < 1) return "more than 99%";
  if (probability < 0.005 && probability > 0) return "less than 1%";
  return fmt::format("{:.0f}%", probability * 100);
}

}  // namespace

Sureness sureness_of(const RunResiduals& residuals, const predict::MemoryPrediction& memory,
                     const std::optional<predict::Capacity>& capacity,
                     std::optional<double> step_seconds) {
  Sureness sure;
  sure.exact = residuals.exact_bytes;
  if (residuals.memory) {
    const bool allocated = residuals.memory->metric == confidence::Metric::memory_allocated;
    const Bytes bytes = allocated ? memory.allocated_bytes : memory.reserved_bytes;
    sure.memory = sure_interval(*residuals.memory, static_cast<double>(bytes.count()));
  }
  if (residuals.step && step_seconds) sure.step = sure_interval(*residuals.step, *step_seconds);
  if (capacity && (residuals.exact_bytes || residuals.memory))
    sure.fit_probability = probability_of(residuals, memory, *capacity);
  return sure;
}

json::Value interval_json(const std::optional<SureInterval>& interval) {
  if (!interval) return {};
  const bool seconds = interval->metric == confidence::Metric::step_time;
  const auto number = [seconds](double value) {
    return seconds ? json::Value(value) : json::Value(rounded_bytes(value).count());
  };
  return json::Object{
      {"low", number(interval->range.low)},
      {"high", number(interval->range.high)},
      {"coverage", confidence::kIntervalCoverage},
      {"metric", confidence::kMetricNames.at(static_cast<std::size_t>(interval->metric))},
      {"basis", json::Object{{"text", interval->basis},
                             {"scope", confidence::kScopeNames.at(
                                           static_cast<std::size_t>(interval->scope))},
                             {"rows", interval->rows},
                             {"models", interval->models}}}};
}

std::string closeness_text(const Sureness& sure, const report::Screen& screen) {
  constexpr double kCloseBelow = 0.8;
  if (sure.exact || !sure.fit_probability || *sure.fit_probability >= kCloseBelow) return {};
  const std::string odds = probability_text(*sure.fit_probability);
  return report::first_that_fits(
             {fmt::format("Close: {} to fit; --confidence 90% finds a plan that leaves room.",
                          odds),
              fmt::format("Close: {} to fit; --confidence 90% leaves room.", odds),
              fmt::format("Close: {} to fit.", odds)},
             screen.columns) +
         "\n";
}

std::string sureness_text(const Sureness& sure, const report::Screen& screen) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (sure.exact) {
    if (sure.fit_probability) {
      add(fmt::format("{} to fit: the run reserves the predicted bytes, and no more",
                      probability_text(*sure.fit_probability)));
    }
    return text.empty() ? text : report::wrapped(text, screen.columns, "Sure    ");
  }
  if (sure.fit_probability) add(probability_text(*sure.fit_probability) + " to fit");
  if (sure.memory) {
    const bool allocated = sure.memory->metric == confidence::Metric::memory_allocated;
    add(fmt::format("in 4 of 5 such runs {} to {} are {} ({})",
                    format_bytes(rounded_bytes(sure.memory->range.low)),
                    format_bytes(rounded_bytes(sure.memory->range.high)),
                    allocated ? "allocated" : "reserved", sure.memory->basis));
  }
  if (sure.step) {
    const bool is_same_basis = sure.memory && sure.memory->basis == sure.step->basis;
    add(fmt::format("a step takes {} to {}{}", report::seconds_text(sure.step->range.low),
                    report::seconds_text(sure.step->range.high),
                    is_same_basis ? std::string() : fmt::format(" ({})", sure.step->basis)));
  }
  return text.empty() ? text : report::wrapped(text, screen.columns, "Sure    ");
}

}  // namespace fourhold::api

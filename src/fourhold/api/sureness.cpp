#include "fourhold/api/sureness.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/report/duration.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

SureInterval sure_interval(const confidence::Basis& basis, double predicted) {
  return {.predicted = predicted,
          .range = confidence::interval_of(basis.residuals, predicted),
          .metric = basis.metric,
          .basis = confidence::basis_text(basis),
          .scope = basis.scope,
          .rows = basis.rows,
          .models = basis.models};
}

Bytes rounded_bytes(double count) { return Bytes(std::llround(count)); }

// A caching allocator that meets the end of the device gives back what it does not use: what fits
// never holds more.
void end_at_device(const predict::MemoryPrediction& memory, const predict::Capacity& capacity,
                   confidence::Interval& range) {
  if (!memory.allocator || memory.device_bytes > capacity.usable_bytes) return;
  const Bytes runtime = memory.device_bytes - memory.reserved_bytes;
  const auto most = static_cast<double>((capacity.usable_bytes - runtime).count());
  range.middle = std::min(range.middle, most);
  range.high = std::min(range.high, most);
}

double probability_of(const RunResiduals& residuals, const predict::MemoryPrediction& memory,
                      const predict::Capacity& capacity) {
  const bool host_is_short = predict::shortfall_of(memory, capacity).host > Bytes(0);
  if (host_is_short) return 0;
  if (residuals.exact_bytes) return memory.needed_bytes <= capacity.usable_bytes ? 1 : 0;
  return confidence::probability_within(*residuals.memory,
                                        static_cast<double>(memory.needed_bytes.count()),
                                        static_cast<double>(capacity.usable_bytes.count()));
}

constexpr double kNearlySure = 0.995;

// "93%"; what is not quite sure is never called so.
std::string probability_text(const Sureness& sure) {
  const double probability = *sure.fit_probability;
  const double least = 1 - sure.most_confidence;
  if (probability > kNearlySure && probability < 1) return "more than 99%";
  if (probability < 1 - kNearlySure && probability > 0) return "less than 1%";
  if (probability == least && least > 0)
    return fmt::format("less than {:.0f}%", std::ceil(least * 100));
  return fmt::format("{:.0f}%", probability * 100);
}

// "93% to fit", and where that is as much as its runs can show, that.
std::string odds_text(const Sureness& sure) {
  const bool is_most = sure.memory && *sure.fit_probability == sure.most_confidence &&
                       sure.most_confidence < kNearlySure;
  return fmt::format("{} to fit{}", probability_text(sure),
                     is_most
                         ? fmt::format(", all that {} can show", counted(sure.memory->rows, "run"))
                         : std::string());
}

// "60.00 GiB to 77.80 GiB are reserved, median 68.12 GiB"; where the median is the prediction there
// is no more to say of it.
template <class Text>
std::string spread_text(const SureInterval& interval, const Text& text, std::string_view verb) {
  std::string out =
      fmt::format("{} to {}{}", text(interval.range.low), text(interval.range.high), verb);
  const std::string middle = text(interval.range.middle);
  if (middle != text(interval.predicted)) out += fmt::format(", median {}", middle);
  return out;
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
    if (capacity && !allocated) end_at_device(memory, *capacity, sure.memory->range);
  }
  if (residuals.step && step_seconds) sure.step = sure_interval(*residuals.step, *step_seconds);
  if (capacity && (residuals.exact_bytes || residuals.memory)) {
    sure.fit_probability = probability_of(residuals, memory, *capacity);
    if (residuals.memory) sure.most_confidence = confidence::most_confidence(*residuals.memory);
  }
  return sure;
}

json::Value interval_json(const std::optional<SureInterval>& interval) {
  if (!interval) return {};
  const bool seconds = interval->metric == confidence::Metric::step_time;
  const auto number = [seconds](double value) {
    return seconds ? json::Value(value) : json::Value(rounded_bytes(value).count());
  };
  return json::Object{
      {"predicted", number(interval->predicted)},
      {"low", number(interval->range.low)},
      {"middle", number(interval->range.middle)},
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
  const std::string odds = probability_text(sure);
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
                      probability_text(sure)));
    }
    return text.empty() ? text : report::wrapped(text, screen.columns, "Sure    ");
  }
  if (sure.fit_probability) add(odds_text(sure));
  if (sure.memory) {
    const bool allocated = sure.memory->metric == confidence::Metric::memory_allocated;
    const auto bytes = [](double count) { return format_bytes(rounded_bytes(count)); };
    add(fmt::format(
        "in 4 of 5 such runs {} ({}; {} predicted)",
        spread_text(*sure.memory, bytes, allocated ? " are allocated" : " are reserved"),
        sure.memory->basis, bytes(sure.memory->predicted)));
  }
  if (sure.step) {
    const bool is_same_basis = sure.memory && sure.memory->basis == sure.step->basis;
    const auto seconds = [](double value) { return report::seconds_text(value); };
    add(fmt::format("a step takes {}{}", spread_text(*sure.step, seconds, ""),
                    is_same_basis ? std::string() : fmt::format(" ({})", sure.step->basis)));
  }
  return text.empty() ? text : report::wrapped(text, screen.columns, "Sure    ");
}

}  // namespace fourhold::api

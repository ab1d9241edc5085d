#include "fourhold/api/plan_difference.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "fourhold/api/option.h"
#include "fourhold/api/run_json.h"
#include "fourhold/api/run_text.h"
#include "fourhold/api/time_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/field_value.h"
#include "fourhold/plan/plan_fields.h"
#include "fourhold/report/duration.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

struct ByteRow {
  std::string name;
  std::int64_t a = 0;
  std::int64_t b = 0;
};

// Categories and what stands beside them, then the sum.
std::vector<ByteRow> byte_rows(const PredictResult& a, const PredictResult& b) {
  const predict::MemoryPrediction& first = a.planned.memory;
  const predict::MemoryPrediction& second = b.planned.memory;
  const ledger::CategoryBytes of_a = first.worst().ledger.at_peak_by_category();
  const ledger::CategoryBytes of_b = second.worst().ledger.at_peak_by_category();
  std::vector<ByteRow> rows;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const auto category = static_cast<ledger::Category>(i);
    if (!ledger::held_in_training(category)) continue;
    rows.push_back({std::string(to_string(category)), of_a[i].count(), of_b[i].count()});
  }
  rows.push_back({"allocator and runtime", (held_bytes(a) - first.allocated_bytes).count(),
                  (held_bytes(b) - second.allocated_bytes).count()});
  rows.push_back({"device", held_bytes(a).count(), held_bytes(b).count()});
  rows.push_back({"host", first.on_host().count(), second.on_host().count()});
  return rows;
}

struct SecondsRow {
  std::string name;
  double a = 0;
  double b = 0;
};

// Parts, then the step; nothing where either is not known by part.
std::vector<SecondsRow> seconds_rows(const PredictResult& a, const PredictResult& b) {
  std::vector<SecondsRow> rows;
  if (!a.time.step || !b.time.step || !a.time.step->parts || !b.time.step->parts) return rows;
  predict::visit_parts(
      [&rows](const char* name, const double& first, const double& second) {
        // Sums in another order differ in the last digits.
        constexpr double kRounding = 1e-9;
        const bool equal = std::abs(first - second) <= kRounding * std::abs(first);
        rows.push_back({name, first, equal ? first : second});
      },
      *a.time.step->parts, *b.time.step->parts);
  rows.push_back({"step", a.time.step->step_seconds, b.time.step->step_seconds});
  return rows;
}

struct FieldRow {
  std::string name;
  json::Value a;
  json::Value b;
};

std::vector<FieldRow> field_rows(const plan::Plan& a, const plan::Plan& b) {
  std::vector<FieldRow> rows;
  plan::visit_fields(
      [&rows](const plan::FieldInfo& info, const auto& first, const auto& second) {
        if (first == second) return;
        rows.push_back({std::string(info.name), plan::field_json(first), plan::field_json(second)});
      },
      a, b);
  return rows;
}

std::string value_text(const json::Value& value) {
  return value.is_string() ? value.string() : json::write(value, json::Layout::one_line);
}

std::string signed_bytes(std::int64_t difference) {
  return (difference > 0 ? "+" : "") + format_bytes(Bytes(difference));
}

std::string signed_seconds(double difference) {
  return (difference < 0 ? "-" : "+") + report::seconds_text(std::abs(difference));
}

std::string verdict_of(const PredictResult& result) {
  if (!result.verdict) return "holds " + format_bytes(held_bytes(result));
  const Sizes sizes{.state = Bytes(result.planned.memory.worst().state_bytes),
                    .needed = held_bytes(result),
                    .capacity = *result.planned.capacity};
  return verdict_wording(*result.verdict, sizes).full;
}

std::string plan_line(std::string_view name, const PredictResult& result,
                      const report::Screen& screen) {
  const std::string pace = result.time.step ? "; " + pace_text(result.time) : "";
  return report::first_that_fits({fmt::format("{}  {}{}", name, verdict_of(result), pace),
                                  fmt::format("{}  {}", name, verdict_of(result))},
                                 screen.columns) +
         "\n";
}

// Tokens per second of all devices, where they are known.
std::optional<double> speed_of(const PredictResult& result) {
  if (!result.time.step) return std::nullopt;
  return result.time.step->tokens_per_second_per_device *
         static_cast<double>(result.planned.plan.devices());
}

std::string first_line(const PredictResult& a, const PredictResult& b,
                       const report::Screen& screen) {
  const std::int64_t bytes = (held_bytes(b) - held_bytes(a)).count();
  std::string text = fmt::format("B takes {} {} per device", format_bytes(Bytes(std::abs(bytes))),
                                 bytes > 0 ? "more" : "less");
  if (bytes == 0) text = "B takes as many bytes per device";
  const std::optional<double> from = speed_of(a);
  const std::optional<double> to = speed_of(b);
  if (from && to) {
    const double ratio = *to / *from;
    if (std::abs(ratio - 1) < 5e-4) {
      text += ", and is as fast";
    } else {
      text += fmt::format(" and makes {:.1f}% {} tokens per second", std::abs(ratio - 1) * 100,
                          ratio > 1 ? "more" : "fewer");
    }
  }
  return report::wrapped(text + ".", screen.columns);
}

json::Value one_json(const PredictResult& result) {
  return json::Object{
      {"model", model_json(result.name, result.counts)},
      {"device", result.device.empty() ? json::Value() : json::Value(result.device)},
      {"plan", plan::to_json(result.planned.plan)},
      {"memory", memory_json(result.planned.memory, result.planned.capacity, result.sure)},
      {"time", time_json(result.time.step, result.sure)},
      {"verdict", result.verdict ? verdict_json(*result.verdict) : json::Value()},
      {"run", run_json(result.time.run)}};
}

}  // namespace

json::Value difference_json(const PredictResult& a, const PredictResult& b) {
  json::Array fields;
  for (const FieldRow& row : field_rows(a.planned.plan, b.planned.plan)) {
    fields.push_back(json::Object{{"field", row.name}, {"a", row.a}, {"b", row.b}});
  }
  json::Array bytes;
  for (const ByteRow& row : byte_rows(a, b)) {
    bytes.push_back(json::Object{
        {"category", row.name}, {"a", row.a}, {"b", row.b}, {"difference", row.b - row.a}});
  }
  json::Array seconds;
  for (const SecondsRow& row : seconds_rows(a, b)) {
    seconds.push_back(json::Object{
        {"part", row.name}, {"a", row.a}, {"b", row.b}, {"difference", row.b - row.a}});
  }
  return json::Object{{"schema", "fourhold.difference/1"},
                      {"a", one_json(a)},
                      {"b", one_json(b)},
                      {"fields", std::move(fields)},
                      {"bytes", std::move(bytes)},
                      {"seconds", std::move(seconds)}};
}

std::string difference_text(const PredictResult& a, const PredictResult& b,
                            const report::Screen& screen) {
  std::string text =
      first_line(a, b, screen) + plan_line("A", a, screen) + plan_line("B", b, screen);
  report::Table fields({{"plan", report::Align::left},
                        {"A", report::Align::left, report::WhenTight::wrap},
                        {"B", report::Align::left, report::WhenTight::wrap}});
  if (a.name != b.name) fields.add({"model", a.name, b.name});
  if (a.device != b.device) fields.add({"device", a.device, b.device});
  for (const FieldRow& row : field_rows(a.planned.plan, b.planned.plan)) {
    fields.add({flag_of(row.name), value_text(row.a), value_text(row.b)});
  }
  if (!fields.empty()) text += "\n" + title_text("Plans", screen) + fields.text(screen, 2);

  report::Table bytes({{"bytes at the peak"},
                       {"A", report::Align::right},
                       {"B", report::Align::right},
                       {"difference", report::Align::right}});
  for (const ByteRow& row : byte_rows(a, b)) {
    if (row.a == 0 && row.b == 0) continue;
    bytes.add({row.name, format_bytes(Bytes(row.a)), format_bytes(Bytes(row.b)),
               row.a == row.b ? "" : signed_bytes(row.b - row.a)});
  }
  text += "\n" + title_text("The fullest device", screen) + bytes.text(screen, 2);

  report::Table seconds({{"part"},
                         {"A", report::Align::right},
                         {"B", report::Align::right},
                         {"difference", report::Align::right}});
  for (const SecondsRow& row : seconds_rows(a, b)) {
    if (row.a == 0 && row.b == 0) continue;
    seconds.add({row.name, report::seconds_text(row.a), report::seconds_text(row.b),
                 row.a == row.b ? "" : signed_seconds(row.b - row.a)});
  }
  if (!seconds.empty()) text += "\n" + title_text("One step", screen) + seconds.text(screen, 2);
  return text;
}

}  // namespace fourhold::api

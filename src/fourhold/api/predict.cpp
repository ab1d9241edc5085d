#include "fourhold/api/predict.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/api/run_json.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/api/run_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

// Equal stages next to each other are one row.
std::string stages_text(const predict::MemoryPrediction& memory, const report::Screen& screen) {
  if (memory.stages.size() < 2) return {};
  report::Table table({{"stage", report::Align::right},
                       {"layers", report::Align::right},
                       {"in flight", report::Align::right},
                       {"state", report::Align::right},
                       {"at the peak", report::Align::right}});
  const auto same = [](const predict::StageMemory& a, const predict::StageMemory& b) {
    return a.layers == b.layers && a.in_flight == b.in_flight && a.state_bytes == b.state_bytes &&
           a.ledger.live_peak_bytes == b.ledger.live_peak_bytes;
  };
  for (std::size_t i = 0; i < memory.stages.size();) {
    const predict::StageMemory& first = memory.stages[i];
    std::size_t last = i;
    while (last + 1 < memory.stages.size() && same(first, memory.stages[last + 1])) ++last;
    table.add({last == i ? std::to_string(i) : fmt::format("{}-{}", i, last),
               std::to_string(first.layers), std::to_string(first.in_flight),
               format_bytes(Bytes(first.state_bytes)), format_bytes(first.ledger.live_peak_bytes)});
    i = last + 1;
  }
  return title_text("Stages", screen) + table.text(screen, 2);
}

std::string categories_text(const predict::MemoryPrediction& memory, const report::Screen& screen) {
  report::Table table({{"category"}, {"at the peak", report::Align::right}});
  const ledger::CategoryBytes bytes = memory.worst().ledger.at_peak_by_category();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == Bytes(0)) continue;
    table.add({std::string(to_string(static_cast<ledger::Category>(i))), format_bytes(bytes[i])});
  }
  const Bytes beside = memory.device_bytes - memory.allocated_bytes;
  if (beside > Bytes(0)) table.add({"allocator and runtime", format_bytes(beside)});
  return title_text("What the device holds", screen) + table.text(screen, 2);
}

std::string first_line(const PredictResult& result, const report::Screen& screen) {
  const predict::MemoryPrediction& memory = result.planned.memory;
  const Subject subject{result.name, result.device, result.planned.plan.devices()};
  if (!result.verdict) {
    const std::string holds = "holds " + format_bytes(memory.device_bytes);
    return headline(subject, {holds, holds}, report::Ink::plain, screen);
  }
  const Sizes sizes{.state = Bytes(memory.worst().state_bytes),
                    .needed = memory.device_bytes,
                    .usable = result.planned.capacity->usable_bytes};
  return headline(subject, verdict_wording(*result.verdict, sizes), verdict_ink(*result.verdict),
                  screen);
}

std::string second_line(const predict::MemoryPrediction& memory, const report::Screen& screen) {
  const predict::StageMemory& worst = memory.worst();
  const std::string state = format_bytes(Bytes(worst.state_bytes));
  const std::string peak =
      fmt::format("Peak {} in {}", format_bytes(memory.allocated_bytes), worst.ledger.peak_step);
  const std::string stage =
      memory.stages.size() > 1 ? fmt::format(" on stage {}", memory.peak_stage) : "";
  return report::first_that_fits({fmt::format("{}{}; state {}", peak, stage, state),
                                  fmt::format("{}; state {}", peak, state), peak},
                                 screen.columns) +
         "\n";
}

std::string third_line(const PredictResult& result, const report::Screen& screen) {
  if (!result.verdict) return "Name a --device or a --memory to know whether that fits.\n";
  const Bytes usable = result.planned.capacity->usable_bytes;
  if (verdict_ink(*result.verdict) == report::Ink::bad) {
    return first_answer_text(*result.verdict, screen);
  }
  return fmt::format("{} stay free on the fullest device.\n",
                     format_bytes(usable - result.planned.memory.device_bytes));
}

}  // namespace

PredictResult predict(const PredictRequest& request) {
  LoadedRun run = load_run(request.run);
  PredictResult result;
  result.planned = choose_plan(run);
  result.name = display_name(run.model.name);
  result.counts = run.counts;
  if (run.target) {
    result.device = run.target->cluster.device.name;
    result.verdict = predict::decide(run.model, result.planned.plan, run.profile,
                                     result.planned.memory, *result.planned.capacity);
  }
  result.chosen = std::move(run.chosen);
  result.notes = std::move(run.notes);
  add_run_notes(result.planned, run.profile, result.notes);
  return result;
}

json::Value to_json(const PredictResult& result) {
  const auto& capacity = result.planned.capacity;
  const std::optional<Bytes> usable =
      capacity ? std::optional(capacity->usable_bytes) : std::nullopt;
  json::Value device;
  if (usable) device = json::Object{{"name", result.device}, {"usable_bytes", usable->count()}};
  return json::Object{{"schema", "fourhold.predict/1"},
                      {"model", model_json(result.name, result.counts)},
                      {"device", std::move(device)},
                      {"plan", plan::to_json(result.planned.plan)},
                      {"chosen", texts_json(result.chosen)},
                      {"memory", memory_json(result.planned.memory, usable)},
                      {"time", nullptr},  // not predicted by this version
                      {"verdict", result.verdict ? verdict_json(*result.verdict) : json::Value()},
                      {"run", nullptr},
                      {"fit_probability", nullptr},
                      {"notes", texts_json(result.notes)}};
}

std::string to_text(const PredictResult& result, const report::Screen& screen) {
  const predict::MemoryPrediction& memory = result.planned.memory;
  std::string text = first_line(result, screen);
  text += second_line(memory, screen);
  text += third_line(result, screen);
  text += "\n" + report::draw(bars_of(result), screen) + "\n";
  if (result.verdict) {
    text += report::wrapped(result.verdict->explanation, screen.columns, "Why     ");
  }
  text += plan_text(result.planned.plan, result.chosen, screen);
  text += "\n" + categories_text(memory, screen);
  if (memory.startup_bytes > Bytes(0)) {
    text += fmt::format("  {} while the model is loaded\n", format_bytes(memory.startup_bytes));
  }
  if (memory.host_bytes > Bytes(0)) {
    text += fmt::format("  {} in host memory per device, and {} of pinned buffers\n",
                        format_bytes(memory.host_bytes), format_bytes(memory.host_staging_bytes));
  }
  const std::string stages = stages_text(memory, screen);
  if (!stages.empty()) text += "\n" + stages;
  if (result.verdict) {
    const std::string answers = answers_text(*result.verdict, screen);
    if (!answers.empty()) text += "\n" + answers;
  }
  return text;
}

report::MemoryBars bars_of(const PredictResult& result) {
  const auto& capacity = result.planned.capacity;
  return report::bars_of(result.planned.memory,
                         capacity ? std::optional(capacity->usable_bytes) : std::nullopt);
}

}  // namespace fourhold::api

#include "fourhold/api/predict.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/api/answer_costs.h"
#include "fourhold/api/calibration.h"
#include "fourhold/api/duration_verdict.h"
#include "fourhold/api/plan_difference.h"
#include "fourhold/api/plan_file.h"
#include "fourhold/api/plan_file_use.h"
#include "fourhold/api/run_json.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/api/run_text.h"
#include "fourhold/api/time_text.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/duration.h"
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

std::string categories_text(const PredictResult& result, const report::Screen& screen) {
  const predict::MemoryPrediction& memory = result.planned.memory;
  report::Table table({{"category"}, {"at the peak", report::Align::right}});
  const ledger::CategoryBytes bytes = memory.worst().ledger.at_peak_by_category();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == Bytes(0)) continue;
    table.add({std::string(to_string(static_cast<ledger::Category>(i))), format_bytes(bytes[i])});
  }
  const Bytes beside = held_bytes(result) - memory.allocated_bytes;
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
                    .needed = held_bytes(result),
                    .capacity = *result.planned.capacity};
  Wording wording = verdict_wording(*result.verdict, sizes);
  if (result.verdict->verdict == predict::VerdictClass::fits_but_takes_too_long) {
    wording.brief = "takes " + days_of_limit_text(*result.time.run);
    wording.full = "fits, but " + wording.brief;
  }
  return headline(subject, wording, verdict_ink(*result.verdict), screen);
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
  if (!result.verdict) {
    return report::wrapped("Name a --device or a --memory to know whether that fits.",
                           screen.columns);
  }
  const Bytes usable = result.planned.capacity->usable_bytes;
  const bool too_long = result.verdict->verdict == predict::VerdictClass::fits_but_takes_too_long;
  if (too_long) return first_answer_text(*result.verdict, screen, deadline_lead(result.time));
  if (verdict_ink(*result.verdict) == report::Ink::bad) {
    return first_answer_text(*result.verdict, screen);
  }
  if (std::string close = closeness_text(result.sure, screen); !close.empty()) return close;
  const std::string free = format_bytes(usable - result.planned.memory.device_bytes);
  if (!result.time.step) {
    return report::wrapped(fmt::format("{} stay free on the fullest device.", free),
                           screen.columns);
  }
  const std::string pace = pace_text(result.time);
  return report::first_that_fits(
             {fmt::format("{}; {} stay free on the fullest device.", pace, free),
              fmt::format("{}; {} stay free.", pace, free), pace + "."},
             screen.columns) +
         "\n";
}

}  // namespace

PredictResult predict_run(LoadedRun run, const TimeRequest& time) {
  PredictResult result;
  result.planned = correct_by_plan(choose_plan(run), run);
  result.name = display_name(run.model.name);
  result.counts = run.counts;
  result.notes = std::move(run.notes);
  const plan::Plan& plan = result.planned.plan;
  result.time = time_answer(run, time, plan);
  result.sure = sureness_of(run.residuals, result.planned.memory, result.planned.capacity,
                            predicted_seconds(result.time));
  if (run.target) {
    result.device = run.target->cluster.device.name;
    result.verdict = predict::decide(run.model, plan, run.profile, result.planned.memory,
                                     *result.planned.capacity);
    judge_duration(run, time, plan, result.time, *result.verdict);
    add_time_costs(run, plan, *result.verdict);
  }
  result.chosen = std::move(run.chosen);
  add_run_notes(result.planned, run.profile, result.notes);
  result.trainable = trainable_of(run.model, plan, run.profile);
  add_trainable_note(result.trainable, result.notes);
  add_experts_note(run.model, plan, result.notes);
  add_time_notes(run, time, result.time, result.notes);
  return result;
}

namespace {

PredictResult predict_one(RunRequest run, TimeRequest time) {
  read_plan_file(run, time);
  check(time);
  return predict_run(load_run(run), time);
}

// What is said of an observed run is said of the plan it was, whatever the correction would have
// chosen instead.
void keep_plan(const plan::Plan& seen, LoadedRun& run) {
  const plan::Plan now = choose_plan(run).plan;
  if (!(now == seen)) {
    run.notes.push_back(
        fmt::format("this is the plan of the run; with the correction, what was not given would be "
                    "chosen as {}",
                    plan::to_string(now)));
  }
  run.request = plan::whole_request(seen);
}

// Learns from what was observed, and predicts with what is then known.
PredictResult predict_observed(const PredictRequest& request) {
  RunRequest run = request.run;
  TimeRequest time = request.time;
  read_plan_file(run, time);
  check(time);
  const std::string path = calibration_path(run);
  if (path.empty()) {
    throw Error("--observed", "has no file to be kept in",
                "name one with --calibration FILE instead of none");
  }
  std::vector<std::string> notes;
  confidence::OwnRuns own = read_calibration(run, Missing::is_no_runs);
  const std::optional<plan::Plan> seen = observe(run, request.observed, own, notes);
  run.calibration = "none";
  LoadedRun loaded = load_run(run);
  apply_corrections(own, loaded);
  loaded.notes.insert(loaded.notes.end(), notes.begin(), notes.end());
  if (seen) keep_plan(*seen, loaded);
  loaded.notes.push_back(kept_note(path));
  PredictResult result = predict_run(std::move(loaded), time);
  result.calibration_path = path;
  result.calibration_text = json::write(confidence::to_json(own)) + "\n";
  return result;
}

}  // namespace

PredictResult predict(const PredictRequest& request) {
  const bool two_plans = !request.run.plan_file.empty() && is_plan_file(request.run.model);
  if (!request.observed.empty()) {
    if (two_plans) {
      throw Error("--observed", "is of one run, but two plans are compared", "name one of them");
    }
    return predict_observed(request);
  }
  if (request.run.plan_file.empty() || !is_plan_file(request.run.model)) {
    return predict_one(request.run, request.time);
  }
  if (!request.svg.empty()) {
    throw Error("--svg", "draws one plan, but two are compared",
                "leave it out, or name one plan file");
  }
  RunRequest first = request.run;
  first.plan_file.clear();
  RunRequest second = request.run;
  second.model = std::exchange(second.plan_file, {});
  PredictResult result = predict_one(std::move(first), request.time);
  result.other.push_back(predict_one(std::move(second), request.time));
  return result;
}

json::Value to_json(const PredictResult& result) {
  if (!result.other.empty()) return difference_json(result, result.other.front());
  const auto& capacity = result.planned.capacity;
  json::Value device;
  if (capacity) device = device_json(result.device, *capacity);
  return json::Object{{"schema", "fourhold.predict/1"},
                      {"model", model_json(result.name, result.counts)},
                      {"device", std::move(device)},
                      {"plan", plan::to_json(result.planned.plan)},
                      {"trainable", trainable_json(result.trainable)},
                      {"chosen", texts_json(result.chosen)},
                      {"memory", memory_json(result.planned.memory, capacity, result.sure)},
                      {"time", time_json(result.time.step, result.sure)},
                      {"verdict", result.verdict ? verdict_json(*result.verdict) : json::Value()},
                      {"run", run_json(result.time.run)},
                      {"fit_probability", number_json(result.sure.fit_probability)},
                      {"notes", texts_json(result.notes)}};
}

std::string to_text(const PredictResult& result, const report::Screen& screen) {
  if (!result.other.empty()) return difference_text(result, result.other.front(), screen);
  const predict::MemoryPrediction& memory = result.planned.memory;
  std::string text = first_line(result, screen);
  text += second_line(memory, screen);
  text += third_line(result, screen);
  text += "\n" + report::draw(bars_of(result), screen) + "\n";
  if (result.verdict) {
    text += report::wrapped(result.verdict->explanation, screen.columns, "Why     ");
  }
  text += sureness_text(result.sure, screen);
  text += speed_lines(result.time, result.planned.plan, screen);
  ChosenHow how{.searched = result.planned.searched};
  if (result.verdict && verdict_ink(*result.verdict) == report::Ink::bad) {
    how.search = kNoneFits;
  }
  text += plan_text(result.planned.plan, result.chosen, screen, how);
  const std::string parts = parts_text(result.time, screen);
  if (!parts.empty()) text += "\n" + parts;
  text += "\n" + categories_text(result, screen);
  if (memory.startup_bytes > Bytes(0)) {
    text += fmt::format("  {} while the model is loaded\n", format_bytes(memory.startup_bytes));
  }
  if (const std::string host = on_host_text(memory); !host.empty()) {
    text += report::wrapped("in host memory per device: " + host, screen.columns, "  ");
  }
  const std::string stages = stages_text(memory, screen);
  if (!stages.empty()) text += "\n" + stages;
  if (result.verdict) {
    const std::string answers = answers_text(*result.verdict, screen);
    if (!answers.empty()) text += "\n" + answers;
  }
  return text;
}

Bytes held_bytes(const PredictResult& result) {
  const predict::MemoryPrediction& memory = result.planned.memory;
  return result.verdict ? predict::shown_bytes(memory, result.verdict->verdict)
                        : memory.device_bytes;
}

report::MemoryBars bars_of(const PredictResult& result) {
  const auto& capacity = result.planned.capacity;
  return report::bars_of(result.planned.memory,
                         capacity ? std::optional(capacity->usable_bytes) : std::nullopt,
                         held_bytes(result));
}

}  // namespace fourhold::api

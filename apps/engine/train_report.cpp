#include "apps/engine/train_report.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "apps/engine/ledger_report.h"
#include "apps/engine/ranks_report.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/train/starting_point.h"
#include "fourhold/model/parameters.h"
#include "fourhold/report/text.h"

namespace fourhold::engine_app {
namespace {

using engine::TrainResult;

// The middle of the steps, the first left out where there are others: it warms caches.
double median_seconds(const TrainResult& result) {
  std::vector<double> seconds = result.step_seconds;
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  if (seconds.empty()) return 0;
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

double rate_of(const engine::TrainLine& line, const RunFrame& frame) {
  return line.seconds > 0 ? static_cast<double>(frame.tokens_per_step) / line.seconds : 0;
}

json::Value predicted_seconds(const RunFrame& frame) {
  return frame.expected ? json::Value(frame.expected->step_seconds) : json::Value();
}
json::Value mfu_json(const RunFrame& frame, double seconds) {
  return frame.expected ? json::Value(frame.expected->mfu(seconds)) : json::Value();
}

double tokens_per_second(const TrainResult& result) {
  const double seconds = median_seconds(result);
  return seconds > 0 ? static_cast<double>(result.tokens_per_step) / seconds : 0;
}

json::Value optional_json(const std::optional<double>& value) {
  return value ? json::Value(*value) : json::Value();
}

// As it was, over the run of one rank. Unlike a prediction's it may be more than the ranks' number:
// both runs met a machine that others use, too.
std::optional<predict::Speedup> measured_speedup(const TrainResult& result, const RunFrame& frame) {
  const double seconds = median_seconds(result);
  if (!frame.one_rank_seconds || seconds <= 0) return std::nullopt;
  const double speedup = *frame.one_rank_seconds / seconds;
  return predict::Speedup{speedup, speedup / static_cast<double>(result.ranks.size())};
}

json::Value speed_json(const TrainResult& result, const RunFrame& frame) {
  const std::optional<predict::Speedup> predicted =
      frame.expected ? frame.expected->speedup : std::nullopt;
  const std::optional<predict::Speedup> measured = measured_speedup(result, frame);
  const auto part = [](const std::optional<predict::Speedup>& whole, double predict::Speedup::*of) {
    return whole ? json::Value((*whole).*of) : json::Value();
  };
  return json::Object{{"tokens_per_second", tokens_per_second(result)},
                      {"predicted_step_seconds", predicted_seconds(frame)},
                      {"measured_step_seconds", median_seconds(result)},
                      {"mfu", mfu_json(frame, median_seconds(result))},
                      {"predicted_speedup", part(predicted, &predict::Speedup::speedup)},
                      {"predicted_speedup_kept", part(predicted, &predict::Speedup::speedup_kept)},
                      {"measured_speedup", part(measured, &predict::Speedup::speedup)},
                      {"measured_speedup_kept", part(measured, &predict::Speedup::speedup_kept)}};
}

// One fact behind its label, on as many lines as it takes.
std::string fact(std::string_view label, const std::string& text, const report::Screen& screen) {
  constexpr int kLabelColumns = 9;
  return report::wrapped(text, screen.columns, report::padded_right(label, kLabelColumns));
}

std::string verdict_text(const TrainResult& result) {
  if (!has_steps(result)) return "no step was done: nothing was measured";
  if (result.ranks.size() > 1) return ranks_bytes_text(result.ranks);
  return bytes_text(result.measured, result.comparison);
}

std::string loss_text(const TrainResult& result) {
  if (result.losses.empty()) return "no step was done";
  std::string text = fmt::format("{:.4f} at step {}, {:.4f} at step {}", result.losses.front(),
                                 result.first_step, result.losses.back(), result.last_step);
  if (result.held_out_loss) text += fmt::format("; held out {:.4f}", *result.held_out_loss);
  return text;
}

// How much of the ranks' number is left of it as speed.
std::string kept_text(const TrainResult& result, const RunFrame& frame,
                      const report::Screen& screen) {
  std::string text;
  const auto add = [&](const std::optional<predict::Speedup>& speedup, const char* how) {
    if (!speedup) return;
    text += fmt::format("{}{:.0f}% {}", text.empty() ? "" : ", ", 100 * speedup->speedup_kept, how);
  };
  add(frame.expected ? frame.expected->speedup : std::nullopt, "predicted");
  add(measured_speedup(result, frame), "measured");
  if (text.empty()) return "";
  return fact("Kept",
              fmt::format("{} of {} times the speed of one rank", text, result.ranks.size()),
              screen);
}

std::string speed_text(const TrainResult& result, const RunFrame& frame,
                       const report::Screen& screen) {
  const double seconds = median_seconds(result);
  std::string text =
      fmt::format("{} tokens/s, {:.3f} s a step (median)",
                  format_count(static_cast<std::int64_t>(tokens_per_second(result))), seconds);
  const std::string kept = kept_text(result, frame, screen);
  if (!frame.expected || seconds <= 0) return fact("Speed", text, screen) + kept;
  const double predicted = frame.expected->step_seconds;
  text += fmt::format(", {:.3g} predicted ({:+.0f}%)", predicted, 100 * (predicted / seconds - 1));
  return fact("Speed", text, screen) +
         fact("MFU",
              fmt::format("{:.3g}% of the {:.0f} GFLOP/s {}", 100 * frame.expected->mfu(seconds),
                          frame.expected->peak_flops_per_second / 1e9,
                          frame.expected->device.empty() ? "this machine's fastest product reached"
                                                         : "of " + frame.expected->device),
              screen) +
         kept;
}

// A command to copy: its paths stay whole, on lines of their own where they are long.
std::string entries_text(const std::string& folder, const report::Screen& screen) {
  const std::string start = "Entries  fourhold compare ";
  const std::string first = report::printable(folder) + "/ledger-predicted.json";
  const std::string second = report::printable(folder) + "/ledger-measured.json";
  const bool beside = report::columns_of(start + first + " \\") <= screen.columns;
  const std::string indent(beside ? start.size() : 0, ' ');
  return fmt::format("{}{}{} \\\n{}{}\n", start, beside ? "" : "\\\n", first, indent, second);
}

}  // namespace

json::Value to_json(const TrainResult& result, const RunFrame& frame) {
  json::Array per_step;
  for (const double loss : result.losses) per_step.emplace_back(loss);
  json::Object loss{
      {"first", result.losses.empty() ? json::Value() : json::Value(result.losses.front())},
      {"last", result.losses.empty() ? json::Value() : json::Value(result.losses.back())},
      {"held_out", optional_json(result.held_out_loss)},
      {"per_step", std::move(per_step)}};
  return json::Object{
      {"schema", "fourhold.train/1"},
      {"parameters", frame.parameters},
      {"precision", frame.precision},
      {"steps", json::Object{{"first", result.first_step}, {"last", result.last_step}}},
      {"ledger", sum_json(result.ranks)},
      {"process", process_sum_json(result.ranks)},
      {"loss", std::move(loss)},
      {"speed", speed_json(result, frame)},
      {"stall", json::Object{{"lost_share", result.stall.share()}}},
      {"traffic", traffic_json(result.ranks)},
      {"ranks", ranks_json(result.ranks)},
      {"checkpoint", result.checkpoint ? json::Value(*result.checkpoint) : json::Value()},
      {"save_seconds", result.checkpoint ? json::Value(result.save_seconds) : json::Value()}};
}

std::string to_text(const TrainResult& result, const RunFrame& frame,
                    const report::Screen& screen) {
  std::string text = fact("Bytes", verdict_text(result), screen);
  text += fact("Loss", loss_text(result), screen);
  if (has_steps(result)) {
    text += speed_text(result, frame, screen);
    text += fact("Stall",
                 fmt::format("{:.2f}% of updates were too small to change a weight",
                             100 * result.stall.share()),
                 screen);
  }
  text +=
      fact("Process",
           fmt::format("{}{} beside the arena of {}; at most {} in all",
                       result.ranks.size() > 1 ? "rank 0: " : "",
                       format_bytes(result.outside_arena_bytes), format_bytes(result.arena_bytes),
                       format_bytes(result.peak_resident_bytes)),
           screen);
  if (result.checkpoint) {
    text += fact("Saved", fmt::format("{} in {:.1f} s", *result.checkpoint, result.save_seconds),
                 screen);
  }
  if (!frame.out.empty() && has_steps(result)) text += entries_text(frame.out, screen);
  if (result.ranks.size() > 1) text += "\n" + ranks_text(result.ranks, screen);
  text += result.ranks.size() > 1 ? "\nRank 0:\n" : "\n";
  text += ledgers_text(result.predicted, result.measured, result.comparison, screen);
  return text;
}

RunFrame frame_of(const engine::TrainSetup& setup) {
  const plan::Plan& plan = setup.plan;
  return {.steps = setup.steps,
          .tokens_per_step = plan.global_batch * plan.seq,
          .parameters = model::count_parameters(setup.model).total,
          .precision = engine::precision_name(plan),
          .expected = std::nullopt,
          .out = setup.checkpoints.folder};
}

std::string line_text(const engine::TrainLine& line, const RunFrame& frame) {
  std::string text =
      fmt::format("step {}/{}  loss {:.4f}  {} tokens/s", line.step.step, frame.steps,
                  line.step.loss, format_count(static_cast<std::int64_t>(rate_of(line, frame))));
  if (frame.expected) text += fmt::format("  MFU {:.0f}%", 100 * frame.expected->mfu(line.seconds));
  text += fmt::format("  norm {:.3f}  stall {:.1f}%  lr {:.2e}", line.step.gradient_norm,
                      100 * line.step.stall.share(), line.step.learning_rate);
  if (line.held_out_loss) text += fmt::format("  held out {:.4f}", *line.held_out_loss);
  return text;
}

json::Value line_json(const engine::TrainLine& line, const RunFrame& frame) {
  return json::Object{{"step", line.step.step},
                      {"loss", line.step.loss},
                      {"held_out_loss", optional_json(line.held_out_loss)},
                      {"learned_tokens", line.step.learned_tokens},
                      {"tokens_per_second", rate_of(line, frame)},
                      {"seconds", line.seconds},
                      {"mfu", mfu_json(frame, line.seconds)},
                      {"gradient_norm", line.step.gradient_norm},
                      {"learning_rate", line.step.learning_rate},
                      {"stall_lost_share", line.step.stall.share()}};
}

}  // namespace fourhold::engine_app

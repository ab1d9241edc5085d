#include "apps/engine/train_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/engine/ledger_report.h"
#include "apps/engine/ranks_report.h"
#include "fourhold/base/quantity.h"

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

std::string verdict_text(const TrainResult& result) {
  if (!has_steps(result)) return "Bytes    no step was done: nothing was measured";
  if (result.ranks.size() > 1) return ranks_bytes_text(result.ranks);
  return bytes_text(result.measured, result.comparison);
}

std::string speed_text(const TrainResult& result, const RunFrame& frame) {
  const double seconds = median_seconds(result);
  std::string text =
      fmt::format("Speed    {} tokens/s, {:.3f} s a step (median)",
                  format_count(static_cast<std::int64_t>(tokens_per_second(result))), seconds);
  if (frame.expected && seconds > 0) {
    const double predicted = frame.expected->step_seconds;
    text +=
        fmt::format(", {:.3g} predicted ({:+.0f}%)\nMFU      {:.3g}% of the {:.0f} GFLOP/s {}",
                    predicted, 100 * (predicted / seconds - 1), 100 * frame.expected->mfu(seconds),
                    frame.expected->peak_flops_per_second / 1e9,
                    frame.expected->device.empty() ? "this machine's fastest product reached"
                                                   : "of " + frame.expected->device);
  }
  text += "\n";
  if (frame.expected && frame.expected->kept) {
    text += fmt::format("Kept     {:.0f}% of {} times the speed of one rank, as predicted\n",
                        100 * *frame.expected->kept, result.ranks.size());
  }
  return text;
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
      {"steps", json::Object{{"first", result.first_step}, {"last", result.last_step}}},
      {"ledger", sum_json(result.ranks)},
      {"process", json::Object{{"peak_rss_bytes", result.peak_resident_bytes.count()},
                               {"arena_bytes", result.arena_bytes.count()},
                               {"outside_arena_bytes", result.outside_arena_bytes.count()}}},
      {"loss", std::move(loss)},
      {"speed", json::Object{{"tokens_per_second", tokens_per_second(result)},
                             {"predicted_step_seconds", predicted_seconds(frame)},
                             {"measured_step_seconds", median_seconds(result)},
                             {"mfu", mfu_json(frame, median_seconds(result))}}},
      {"stall", json::Object{{"lost_share", result.stall.share()}}},
      {"traffic", traffic_json(result.ranks)},
      {"ranks", ranks_json(result.ranks)},
      {"checkpoint", result.checkpoint ? json::Value(*result.checkpoint) : json::Value()},
      {"save_seconds", result.checkpoint ? json::Value(result.save_seconds) : json::Value()}};
}

std::string to_text(const TrainResult& result, const RunFrame& frame,
                    const report::Screen& screen) {
  std::string text = verdict_text(result) + "\n";
  if (result.losses.empty()) {
    text += "Loss     no step was done\n";
  } else {
    text += fmt::format("Loss     {:.4f} at step {}, {:.4f} at step {}", result.losses.front(),
                        result.first_step, result.losses.back(), result.last_step);
    if (result.held_out_loss) text += fmt::format("; held out {:.4f}", *result.held_out_loss);
    text += "\n";
  }
  if (has_steps(result)) {
    text += speed_text(result, frame);
    text += fmt::format("Stall    {:.2f}% of updates were too small to change a weight\n",
                        100 * result.stall.share());
  }
  text += fmt::format("Process  {} beside the arena of {}; at most {} in all\n",
                      format_bytes(result.outside_arena_bytes), format_bytes(result.arena_bytes),
                      format_bytes(result.peak_resident_bytes));
  if (result.checkpoint) {
    text += fmt::format("Saved    {} in {:.1f} s\n", *result.checkpoint, result.save_seconds);
  }

  if (!frame.out.empty() && has_steps(result)) {
    text += fmt::format(
        "Entries  fourhold compare {0}/ledger-predicted.json \\\n"
        "                          {0}/ledger-measured.json\n",
        frame.out);
  }
  if (result.ranks.size() > 1) text += "\n" + ranks_text(result.ranks, screen);
  text += "\n" + ledgers_text(result.predicted, result.measured, result.comparison, screen);
  return text;
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

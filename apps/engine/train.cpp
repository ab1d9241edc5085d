// `fourhold train`.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/engine/folder_lock.h"
#include "apps/engine/stop_signal.h"
#include "apps/engine/train_report.h"
#include "apps/engine/train_setup.h"
#include "apps/engine/verbs.h"
#include "apps/shell/output.h"
#include "apps/shell/terminal.h"
#include "fourhold/api/request.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/train/event_file.h"
#include "fourhold/report/text.h"

namespace fourhold::engine_app {
namespace {

// Where the lines of a run go: standard error, and files in --out.
class TrainLog {
 public:
  TrainLog(const std::string& folder, const RunFrame& frame, std::int64_t every)
      : frame_(frame), every_(every), terminal_(isatty(STDERR_FILENO) != 0) {
    if (folder.empty()) return;
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    lines_.open(folder + "/log.jsonl", std::ios::app);
    if (!lines_) {
      throw Error(folder + "/log.jsonl", "cannot be written",
                  "name a folder that can be written to with --out");
    }
    folder_ = folder;
  }
  ~TrainLog() { end_line(); }
  TrainLog(const TrainLog&) = delete;
  TrainLog& operator=(const TrainLog&) = delete;

  // What follows starts on a line of its own.
  void end_line() {
    if (open_) shell::write_note("\n");
    open_ = false;
  }
  void note(const std::string& text) {
    end_line();
    shell::write_note(report::printable(text) + "\n");
  }

  void line(const engine::TrainLine& line) {
    write_files(line);
    const bool last = line.step.step == frame_.steps;
    if (line.step.step % every_ != 0 && !last && line.step.step != 1) return;
    std::string text = line_text(line, frame_);
    // A line that wraps cannot be rewritten: what does not fit is left out, the loss never.
    const auto columns = static_cast<std::size_t>(shell::columns_of_notes().value_or(0));
    while (terminal_ && text.size() >= columns && text.rfind("  ") != std::string::npos) {
      text.resize(text.rfind("  "));
    }
    // One line, rewritten, on a terminal; a line each in a file.
    shell::write_note(terminal_ ? "\r\x1b[K" + text : text + "\n");
    open_ = terminal_;
  }

 private:
  void write_files(const engine::TrainLine& line) {
    if (folder_.empty()) return;
    if (!events_) events_.emplace(folder_);  // not before there is something to write
    lines_ << json::write(line_json(line, frame_), json::Layout::one_line) << "\n" << std::flush;
    const engine::ScalarEvent events[] = {
        {"train/loss", line.step.loss},
        {"train/gradient_norm", line.step.gradient_norm},
        {"train/learning_rate", line.step.learning_rate},
        {"train/stall_lost_share", line.step.stall.share()},
        {"train/tokens_per_second",
         static_cast<double>(frame_.tokens_per_step) / std::max(line.seconds, 1e-9)}};
    events_->add(line.step.step, events);
    if (line.held_out_loss) {
      const engine::ScalarEvent held_out[] = {{"held_out/loss", *line.held_out_loss}};
      events_->add(line.step.step, held_out);
    }
  }

  const RunFrame& frame_;
  std::int64_t every_;
  bool terminal_;
  bool open_ = false;
  std::string folder_;
  std::ofstream lines_;
  std::optional<engine::EventFile> events_;
};

}  // namespace

ExitCode train(const Question& question) {
  const auto request = api::request_of<api::TrainRequest>(question.arguments);
  const PreparedTraining prepared = prepare_training(request);
  const plan::Plan& plan = prepared.setup.plan;
  for (const std::string& note : prepared.notes) shell::write_note("note: " + note + "\n");
  shell::write_note(fmt::format("arena of {} predicted, and up to {} beside it; {}, {}\n",
                                format_bytes(prepared.predicted_bytes),
                                format_bytes(kOutsideAllowance), counted(plan.threads, "thread"),
                                plan.isa));
  watch_stop_signals();
  const std::optional<FolderLock> lock =
      request.out.empty() ? std::nullopt : std::optional<FolderLock>(std::in_place, request.out);
  const RunFrame frame{.steps = prepared.setup.steps,
                       .tokens_per_step = plan.global_batch * plan.seq,
                       .expected = expected_speed(request.device, prepared.setup),
                       .out = request.out};
  TrainLog log(request.out, frame, request.log_every.value_or(1));
  const engine::TrainResult result =
      engine::train(prepared.setup, {.note = [&](const std::string& text) { log.note(text); },
                                     .line = [&](const engine::TrainLine& line) { log.line(line); },
                                     .stop_asked = [] { return stop_asked(); }});
  log.end_line();
  if (result.stopped_early) {
    log.note(result.checkpoint ? "stopped by a signal; go on with --resume auto"
                               : "stopped by a signal; nothing was kept (--out FOLDER keeps)");
  }
  if (request.verbose) {
    for (const std::string& kernel : result.kernels) log.note("kernel: " + kernel);
  }
  if (!request.out.empty()) {
    const auto write = [&](const char* name, const ledger::Ledger& ledger) {
      shell::write_file(request.out + "/" + name, json::write(ledger::to_json(ledger)) + "\n");
    };
    write("ledger-predicted.json", result.predicted);
    write("ledger-measured.json", result.measured);
  }
  shell::write_output(question.form == api::Form::json ? json::write(to_json(result, frame)) + "\n"
                                                       : to_text(result, frame, question.screen));
  // A run that a signal ended is not the run that was asked for.
  return result.comparison.is_equal() && !result.stopped_early ? ExitCode::done
                                                               : ExitCode::answer_is_no;
}

}  // namespace fourhold::engine_app

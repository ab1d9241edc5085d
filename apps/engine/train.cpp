// `fourhold train`.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/engine/folder_lock.h"
#include "apps/engine/joined_ranks.h"
#include "apps/engine/memory_checks.h"
#include "apps/engine/one_rank.h"
#include "apps/engine/ranks_report.h"
#include "apps/engine/resume_checks.h"
#include "apps/engine/step_lines.h"
#include "apps/engine/stop_signal.h"
#include "apps/engine/train_report.h"
#include "apps/engine/train_setup.h"
#include "apps/engine/verbs.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"
#include "apps/shell/terminal.h"
#include "fourhold/api/request.h"
#include "fourhold/api/run.h"
#include "fourhold/api/run_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/train/event_file.h"
#include "fourhold/predict/scaling.h"
#include "fourhold/report/duration.h"

namespace fourhold::engine_app {
namespace {

// Where the lines of a run go: standard error, and files in --out.
class TrainLog {
 public:
  // Throws Error where --out holds the log of a run that is not resumed. The frame must outlive it.
  TrainLog(const api::TrainRequest& request, const RunFrame& frame)
      : frame_(frame),
        every_(request.log_every.value_or(1)),
        terminal_(shell::columns_of_notes().has_value()) {
    folder_ = request.out;
    if (folder_.empty()) return;
    goes_on_ = holds_log(folder_);
    require_own_log(request);
    open_lines();
  }
  // A run that was refused before its first step leaves no empty log.
  ~TrainLog() {
    end_line();
    if (folder_.empty() || events_) return;
    lines_.close();
    std::error_code fault;
    if (std::filesystem::file_size(log_path(), fault) == 0 && !fault) {
      std::filesystem::remove(log_path(), fault);
    }
  }
  TrainLog(const TrainLog&) = delete;
  TrainLog& operator=(const TrainLog&) = delete;

  // What follows starts on a line of its own.
  void end_line() {
    if (open_) shell::write_note("\n");
    open_ = evaluation_open_ = false;
  }
  void note(const std::string& text) {
    write_waiting();
    end_line();
    shell::write_note(shell::labelled("", text));
  }
  // Said before the next note, and not at all where the run is refused before that: then the
  // refusal is what matters.
  void note_later(std::string text) { waiting_.push_back(std::move(text)); }

  void line(const engine::TrainLine& line) {
    write_waiting();
    if (evaluation_open_) end_line();
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

  // How far an evaluation is: one line, rewritten, on a terminal; in a file one every ten seconds.
  void evaluating(std::int64_t done, std::int64_t whole) {
    const Clock::time_point now = Clock::now();
    if (done == 0) evaluated_ = now;
    if (now - evaluated_ < (terminal_ ? kTerminalRest : kFileRest)) return;
    evaluated_ = now;
    const std::string text = fmt::format("evaluating: {} of {} held-out micro-batches",
                                         format_count(done), format_count(whole));
    if (!terminal_) {
      shell::write_note(text + "\n");
      return;
    }
    if (!evaluation_open_) end_line();
    shell::write_note("\r\x1b[K" + text);
    open_ = evaluation_open_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kTerminalRest{500};
  static constexpr std::chrono::milliseconds kFileRest{10'000};

  void write_waiting() {
    for (const std::string& text : waiting_) shell::write_note(shell::labelled("", text));
    waiting_.clear();
  }
  [[nodiscard]] std::string log_path() const { return log_of(folder_); }
  [[noreturn]] void refuse_log() const {
    throw Error(log_path(), std::string("cannot be written: ") + std::strerror(errno),
                "make room on the disk, or name a folder that can be written to with --out");
  }

  // STEM.jsonl, or the first of STEM-2.jsonl, STEM-3.jsonl ... that is not there.
  [[nodiscard]] static std::string free_name(const std::string& stem) {
    std::string name = stem + ".jsonl";
    for (int i = 2; std::filesystem::exists(name); ++i) name = fmt::format("{}-{}.jsonl", stem, i);
    return name;
  }

  void open_lines() {
    lines_.open(log_path(), std::ios::app);
    if (!lines_) refuse_log();
  }
  // The run before may have got further than its last checkpoint: of a step that is done twice the
  // second stays. The log of one that left no checkpoint is kept under another name: this run need
  // not be the same.
  void go_on_from(std::int64_t step) {
    if (!goes_on_) return;
    lines_.close();
    if (step == 1) {
      const std::string kept = free_name(folder_ + "/log-before");
      std::error_code fault;
      std::filesystem::rename(log_path(), kept, fault);
      open_lines();
      note(fault ? log_path() + " goes on behind the lines of the run before"
                 : "the log of the run before is kept as " + kept);
      return;
    }
    const std::int64_t cut = cut_steps_from(log_path(), step);
    open_lines();
    note(cut == 0 ? log_path() + " goes on behind the lines of the run before"
                  : fmt::format("{} goes on with step {}: {} of the run before {} done again",
                                log_path(), step, counted(cut, "line"), cut == 1 ? "is" : "are"));
  }

  void write_files(const engine::TrainLine& line) {
    if (folder_.empty()) return;
    if (!events_) {  // not before there is something to write
      go_on_from(line.step.step);
      events_.emplace(folder_, line.step.step);
    }
    lines_ << json::write(line_json(line, frame_), json::Layout::one_line) << "\n" << std::flush;
    if (!lines_) refuse_log();
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
  bool evaluation_open_ = false;  // the open line tells of an evaluation
  Clock::time_point evaluated_;   // when that was told last
  bool goes_on_ = false;          // there are lines of a run before
  std::vector<std::string> waiting_;
  std::string folder_;
  std::ofstream lines_;
  std::optional<engine::EventFile> events_;
};

// What a run does where nobody watches: on every rank but the first.
engine::TrainResult train_unseen(const engine::TrainSetup& setup) {
  return engine::train(setup, {.note = [](const std::string&) {},
                               .line = [](const engine::TrainLine&) {},
                               .stop_asked = [] { return stop_asked(); }});
}

// The size of what is about to begin.
std::string size_text(const PreparedTraining& prepared) {
  const plan::Plan& plan = prepared.setup.plan;
  const std::string ranks =
      plan.devices() == 1 ? "" : counted(plan.devices(), "rank") + ", the fullest with an ";
  return fmt::format("{}arena of {} predicted, and up to {} beside it; {}, {}", ranks,
                     format_bytes(prepared.predicted_bytes), format_bytes(kOutsideAllowance),
                     counted(plan.threads, "thread"), plan.isa);
}

// What a user waits for: whether it fits, what will run, and how long that takes.
std::vector<std::string> opening_lines(const PreparedTraining& prepared, const RunFrame& frame,
                                       const api::TrainRequest& request) {
  const engine::TrainSetup& setup = prepared.setup;
  const plan::Plan& plan = setup.plan;
  const std::string ranks =
      plan.devices() > 1 ? fmt::format(" on each of {}", counted(plan.devices(), "rank")) : "";
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "{} fits{}: {} predicted, {} available", api::display_name(setup.model.name), ranks,
      format_bytes(prepared.predicted_bytes), format_bytes(prepared.available_bytes)));
  // How many steps are left is known when the checkpoint is open.
  const bool resumes = !request.resume.empty();
  lines.push_back(
      resumes
          ? fmt::format("Goes on to step {}, each of {} tokens: {}", format_count(setup.steps),
                        format_count(frame.tokens_per_step), api::split_text(plan))
          : fmt::format("Runs {} of {} tokens, {} in all: {}", counted(setup.steps, "step"),
                        format_count(frame.tokens_per_step),
                        format_count(setup.steps * frame.tokens_per_step), api::split_text(plan)));
  if (!frame.expected) {
    lines.push_back(fmt::format("Takes a time that --device {} leaves open: the first steps tell",
                                request.device));
    return lines;
  }
  const double step = frame.expected->step_seconds;
  const double days = step * static_cast<double>(setup.steps) / predict::kSecondsPerDay;
  constexpr double kTwoMinutes = 120 / predict::kSecondsPerDay;
  const std::string whole = days < kTwoMinutes
                                ? report::seconds_text(days * predict::kSecondsPerDay)
                                : report::days_text(days);
  lines.push_back(fmt::format(
      "Takes about {}{} per step, predicted from {}", resumes ? "" : whole + " at ",
      report::seconds_text(step),
      frame.expected->device.empty() ? "this machine's measured speed" : frame.expected->device));
  return lines;
}

// A run that a signal ended is not the run that was asked for.
ExitCode code_of(const engine::TrainResult& result) {
  const bool equal =
      std::all_of(result.ranks.begin(), result.ranks.end(),
                  [](const engine::RankResult& rank) { return rank.entries_differing == 0; });
  const bool whole = !result.stopped_early && !result.evaluation_stopped;
  return equal && result.comparison.is_equal() && whole ? ExitCode::done : ExitCode::answer_is_no;
}

void write_ledgers(const std::string& folder, const engine::TrainResult& result,
                   std::int64_t rank) {
  // Other ranks' names say whose they are.
  const std::string ending = rank == 0 ? ".json" : fmt::format("-rank-{}.json", rank);
  const auto write = [&](const std::string& name, const ledger::Ledger& ledger) {
    shell::write_file(folder + "/" + name + ending, json::write(ledger::to_json(ledger)) + "\n");
  };
  write("ledger-predicted", result.predicted);
  write("ledger-measured", result.measured);
}

ExitCode train_as(const Question& question, const api::TrainRequest& request,
                  const JoinedRanks& ranks) {
  const PreparedTraining prepared = prepare_training(request, ranks);
  const plan::Plan& plan = prepared.setup.plan;
  const bool kept = !request.out.empty();
  if (!ranks.is_first()) {
    watch_stop_signals({});
    (void)expected_speed(request.device, prepared.setup, [](const std::string&) {});
    const engine::TrainResult result = train_unseen(prepared.setup);
    if (kept && has_steps(result)) write_ledgers(request.out, result, ranks.own().rank);
    return code_of(result);
  }
  watch_stop_signals(
      {.first = kept ? "stopping after this step, and saving" : "stopping after this step",
       .again =
           kept ? "still stopping and saving; once more ends at once and loses what is not saved"
                : "still stopping; once more ends at once"});
  const std::optional<FolderLock> lock =
      request.out.empty() ? std::nullopt : std::optional<FolderLock>(std::in_place, request.out);
  RunFrame frame = frame_of(prepared.setup);
  if (!request.one_rank.empty()) {
    frame.one_rank_seconds = one_rank_seconds(request.one_rank, frame);
  }
  TrainLog log(request, frame);
  std::vector<std::string> notes = prepared.notes;
  frame.expected = expected_speed(request.device, prepared.setup,
                                  [&](const std::string& text) { notes.push_back(text); });
  for (std::string& line : opening_lines(prepared, frame, request)) log.note_later(std::move(line));
  for (const std::string& note : notes) log.note_later("note: " + note);
  if (plan.devices() > 1 || plan.grad_accum > 1) log.note_later("plan: " + to_string(plan));
  log.note_later(size_text(prepared));
  const engine::TrainResult result = engine::train(
      prepared.setup,
      {.note = [&](const std::string& text) { log.note(text); },
       .line = [&](const engine::TrainLine& line) { log.line(line); },
       .stop_asked = [] { return stop_asked(); },
       .evaluating = [&](std::int64_t done, std::int64_t whole) { log.evaluating(done, whole); }});
  log.end_line();
  if (result.evaluation_stopped) {
    log.note("the evaluation was ended by a signal: there is no held-out loss");
  }
  if (result.stopped_early) {
    log.note(result.checkpoint ? "stopped by a signal; go on with --resume auto"
             : kept            ? "stopped by a signal before the first step"
                               : "stopped by a signal; nothing was kept (--out FOLDER keeps)");
  }
  if (request.verbose) {
    for (const std::string& kernel : result.kernels) log.note("kernel: " + kernel);
  }
  shell::write_output(question.form == api::Form::json ? json::write(to_json(result, frame)) + "\n"
                                                       : to_text(result, frame, question.screen));
  if (kept && has_steps(result)) write_ledgers(request.out, result, 0);
  return sent_as_predicted(result.ranks) ? code_of(result) : ExitCode::answer_is_no;
}

}  // namespace

ExitCode train(const Question& question) {
  api::TrainRequest request;
  try {
    request = api::request_of<api::TrainRequest>(question.arguments);
  } catch (const Error&) {
    return refuse_on_all_ranks();
  }
  JoinedRanks ranks{request.rank_timeout ? Seconds{static_cast<double>(*request.rank_timeout)}
                                         : engine::MpiOptions{}.timeout};
  return ranks.run([&] { return train_as(question, request, ranks); });
}

}  // namespace fourhold::engine_app

// `fourhold sample`.
#include "fourhold/api/sample.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/engine/ledger_report.h"
#include "apps/engine/sample_setup.h"
#include "apps/engine/stop_signal.h"
#include "apps/engine/verbs.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"
#include "fourhold/api/request.h"
#include "fourhold/base/quantity.h"
#include "fourhold/base/utf8.h"
#include "fourhold/report/text.h"

namespace fourhold::engine_app {
namespace {

constexpr std::array<std::string_view, 3> kEndNames{"tokens", "end_of_text", "signal"};

// A terminal obeys control characters, and a model may write any; lines stay lines.
std::string shown_on_terminal(const std::string& text) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] != '\n' && text[at] != '\t') continue;
    out += report::printable(std::string_view(text).substr(begin, at - begin));
    if (at < text.size()) out += text[at];
    begin = at + 1;
  }
  return out;
}

json::Value to_json(const api::SampleRequest& request, const PreparedSampling& prepared,
                    const engine::SampleResult& result) {
  const engine::SampleSetup& setup = prepared.setup;
  json::Array tokens;
  for (const engine::data::TokenId id : result.tokens) tokens.emplace_back(std::int64_t{id});
  return json::Object{
      {"schema", "fourhold.sample/1"},
      {"weights", valid_utf8(setup.weights)},
      {"tokenizer", setup.tokenizer->name()},
      {"precision", plan::kPrecisionNames[static_cast<std::size_t>(setup.plan.precision)]},
      {"seed", static_cast<std::int64_t>(setup.rule.seed)},
      {"prompt", valid_utf8(request.prompt)},
      {"prompt_tokens", static_cast<std::int64_t>(setup.prompt.size())},
      {"text", result.text},
      {"tokens", std::move(tokens)},
      {"end", kEndNames[static_cast<std::size_t>(result.end)]},
      {"prompt_seconds", result.prompt_seconds},
      {"tokens_per_second", result.tokens_per_second()},
      {"ledger",
       ledgers_json(engine::totals_of(result.predicted), engine::totals_of(result.measured),
                    result.comparison.entries_a, result.comparison.entries_differing)}};
}

// Standard output holds the text alone.
void write_notes(const PreparedSampling& prepared, const engine::SampleResult& result,
                 const report::Screen& screen) {
  if (result.end == engine::SampleEnd::signal) shell::write_note("stopped by a signal\n");
  if (result.tokens.empty()) {
    return shell::write_note("no token was generated: nothing was measured\n");
  }
  shell::write_note(
      shell::labelled("Bytes    ", bytes_text(result.measured, result.comparison)) +
      shell::labelled(
          "Speed    ",
          fmt::format("{:.1f} tokens/s; {} of prompt in {:.2f} s", result.tokens_per_second(),
                      counted(static_cast<std::int64_t>(prepared.setup.prompt.size()), "token"),
                      result.prompt_seconds)));
  if (result.comparison.is_equal()) return;
  shell::write_note(ledgers_text(result.predicted, result.measured, result.comparison, screen));
}

}  // namespace

ExitCode sample(const Question& question) {
  const auto request = api::request_of<api::SampleRequest>(question.arguments);
  const PreparedSampling prepared = prepare_sampling(request);
  const auto note = [](const std::string& text) {
    shell::write_note(shell::labelled("note: ", text));
  };
  for (const std::string& text : prepared.notes) note(text);
  const plan::Plan& plan = prepared.setup.plan;
  shell::write_note(fmt::format("arena of {} predicted; {}, {}\n",
                                format_bytes(prepared.predicted_bytes),
                                counted(plan.threads, "thread"), plan.isa));
  watch_stop_signals(
      {.first = "stopping after this token", .again = "still stopping; once more ends at once"});
  const bool as_text = question.form == api::Form::text;
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  const auto show = [&](const std::string& text) {
    if (as_text) shell::write_output(on_terminal ? shown_on_terminal(text) : text);
  };
  show(valid_utf8(request.prompt));
  const engine::SampleResult result = engine::sample(
      prepared.setup, {.note = note, .text = show, .stop_asked = [] { return stop_asked(); }});
  show("\n");
  if (!as_text) shell::write_output(json::write(to_json(request, prepared, result)) + "\n");
  if (request.verbose) {
    for (const std::string& kernel : result.kernels) note("kernel: " + kernel);
  }
  write_notes(prepared, result, question.screen);
  const bool is_whole = result.end != engine::SampleEnd::signal && result.comparison.is_equal();
  return is_whole ? ExitCode::done : ExitCode::answer_is_no;
}

}  // namespace fourhold::engine_app

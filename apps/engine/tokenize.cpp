// `fourhold tokenize`.
#include "fourhold/engine/data/tokenize.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "apps/engine/stop_signal.h"
#include "apps/engine/verbs.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"
#include "apps/shell/progress.h"
#include "fourhold/api/request.h"
#include "fourhold/api/tokenize.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/text.h"

namespace fourhold::engine_app {
namespace {

namespace data = engine::data;

constexpr std::array<std::string_view, 3> kFormatNames{"llm.c", "nanogpt", "megatron"};
constexpr std::array kFormats{data::TokenFormat::llm_c, data::TokenFormat::nanogpt,
                              data::TokenFormat::megatron};

std::optional<data::TokenFormat> format_of(const std::string& name) {
  if (name.empty()) return std::nullopt;
  for (std::size_t i = 0; i < kFormatNames.size(); ++i) {
    if (kFormatNames[i] == name) return kFormats[i];
  }
  throw Error("--format", "'" + name + "' is no format", "use llm.c, nanogpt or megatron");
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string_view name_of(data::TokenFormat format) {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i] == format) return kFormatNames[i];
  }
  return "";
}

}  // namespace

ExitCode tokenize(const Question& question) {
  const auto request = api::request_of<api::TokenizeRequest>(question.arguments);
  if (request.input.empty()) {
    throw Error("INPUT", "is missing", "name a text file, or a .jsonl of prompts and answers");
  }
  if (request.output.empty()) {
    throw Error("--output", "is missing", "name the token file to write, such as -o tokens.bin");
  }
  data::TokenizeRequest job;
  job.inputs = {request.input};
  job.inputs.insert(job.inputs.end(), request.also.begin(), request.also.end());
  job.output = request.output;
  job.format = format_of(request.format);
  job.separator = given(request.separator);
  job.end_of_text = given(request.end_of_text);
  job.most_example_tokens = request.most_example_tokens;
  const auto tokenizer = data::open_tokenizer(request.tokenizer);
  watch_stop_signals({.first = "stopping", .again = "still stopping; once more ends at once"});
  const data::TokenizeResult result = [&] {
    shell::ProgressLine line;
    const api::Progress show = line.function();
    return data::tokenize(job, *tokenizer, [&](const data::TokenizeProgress& progress) {
      if (stop_asked()) {
        throw Error("tokenize", "stopped by a signal", "nothing was left under " + request.output,
                    ExitCode::answer_is_no);
      }
      show("bytes", progress.bytes_done, progress.bytes_total);
    });
  }();
  for (const std::string& note : result.notes) {
    shell::write_note(shell::labelled("note: ", note));
  }
  const json::Value answer = json::Object{{"schema", "fourhold.tokenize/1"},
                                          {"output", request.output},
                                          {"format", name_of(result.format)},
                                          {"tokens", result.card.tokens},
                                          {"learned_tokens", result.learned_tokens},
                                          {"documents", result.card.documents},
                                          {"text_bytes", result.text_bytes},
                                          {"unknown_tokens", result.unknown_tokens},
                                          {"examples_left_out", result.examples_left_out},
                                          {"tokenizer", result.card.tokenizer},
                                          {"vocabulary", result.card.vocabulary}};
  if (question.form == api::Form::json) {
    shell::write_output(json::write(answer) + "\n");
    return ExitCode::done;
  }
  const auto say = [&question](const std::string& sentence) {
    return report::wrapped(sentence, question.screen.columns);
  };
  std::string text = say(fmt::format("{} tokens of {} in {} ({})", format_count(result.card.tokens),
                                     counted(result.card.documents, "document"), request.output,
                                     name_of(result.format)));
  text += say(fmt::format(
      "{} bytes of text, {:.2f} a token; {} learned", format_count(result.text_bytes),
      result.card.tokens > 0
          ? static_cast<double>(result.text_bytes) / static_cast<double>(result.card.tokens)
          : 0.0,
      format_count(result.learned_tokens)));
  text += say(fmt::format("tokenizer {}, {} ids: train it with a model of at least that vocabulary",
                          result.card.tokenizer, format_count(result.card.vocabulary)));
  if (result.unknown_tokens > 0) {
    text += say(counted(result.unknown_tokens, "piece") + " of text without a token: unknown");
  }
  if (result.examples_left_out > 0) {
    text += say(counted(result.examples_left_out, "example") + " too long, left out");
  }
  shell::write_output(text);
  return ExitCode::done;
}

}  // namespace fourhold::engine_app

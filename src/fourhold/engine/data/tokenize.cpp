#include "fourhold/engine/data/tokenize.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/ascii.h"
#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/example.h"
#include "fourhold/engine/data/foreign_data.h"
#include "fourhold/engine/data/token_writer.h"
#include "fourhold/engine/files/mapped_file.h"

namespace fourhold::engine::data {
namespace {

constexpr std::size_t kMostNamed = 8;

bool has_extension(const std::string& path, std::string_view extension) {
  const std::size_t length = std::min(path.size(), extension.size());
  const std::string_view end = std::string_view(path).substr(path.size() - length);
  return std::equal(end.begin(), end.end(), extension.begin(), extension.end(),
                    [](char a, char b) { return lowered(a) == b; });
}

bool holds_examples(const std::string& path) {
  return has_extension(path, ".jsonl") || has_extension(path, ".ndjson");
}

// Whether the inputs are examples. Error unless all are of one kind.
bool check_request(const TokenizeRequest& request) {
  if (request.inputs.empty()) throw Error("INPUT", "no text is given", "name one or more files");
  if (!std::string_view(request.output).ends_with(".bin") || request.output.size() < 5) {
    throw Error(request.output, "does not end in .bin", "token files are called NAME.bin");
  }
  const auto count = std::count_if(request.inputs.begin(), request.inputs.end(), holds_examples);
  const bool examples = count > 0;
  if (examples && count != static_cast<std::ptrdiff_t>(request.inputs.size())) {
    throw Error("INPUT", "texts and .jsonl files cannot be mixed",
                "tokenize them into two data sets");
  }
  if (examples && request.format && *request.format != TokenFormat::megatron) {
    throw Error("--format",
                fmt::format("{} files do not keep examples apart", to_string(*request.format)),
                "prompts and answers are written as a Megatron data set with a mask");
  }
  if (examples && request.separator) {
    throw Error("--separator", "each line of a .jsonl file is a document already", "leave it out");
  }
  if (request.separator && request.separator->empty()) {
    throw Error("--separator", "is empty", "give a text that stands between documents");
  }
  if (!examples && request.most_example_tokens) {
    throw Error("--most-example-tokens", "is of prompts and answers, but the inputs are texts",
                "leave it out: texts are cut into sequences of any length");
  }
  if (request.format == TokenFormat::memory) {
    throw Error("--format", "memory is no format of files", "llm.c, nanoGPT or Megatron");
  }
  return examples;
}

TokenId end_of_text(const TokenizeRequest& request, const Tokenizer& tokenizer) {
  if (!request.end_of_text) {
    if (const auto id = tokenizer.end_of_text()) return *id;
    throw Error("--end-of-text", "the tokenizer does not say which token ends a document",
                "name it: --end-of-text '<|endoftext|>'");
  }
  if (const auto id = tokenizer.id_of(*request.end_of_text)) return *id;
  throw Error("--end-of-text",
              fmt::format("'{:.40}' is no token of the tokenizer", *request.end_of_text),
              "name a token by its text, as tokenizer.json writes it");
}

class Run {
 public:
  Run(const TokenizeRequest& request, Tokenizer& tokenizer, const ShowTokenizeProgress& show,
      bool examples)
      : request_(request),
        tokenizer_(tokenizer),
        show_(show),
        format_(request.format.value_or(examples ? TokenFormat::megatron : TokenFormat::llm_c)),
        prefix_(tokenizer.prefix()),
        suffix_(tokenizer.suffix()),
        end_(end_of_text(request, tokenizer)),
        writer_(request.output, format_, tokenizer.vocabulary_size(),
                examples ? Masked::yes : Masked::no) {
    if (suffix_.empty() || suffix_.back() != end_) suffix_.push_back(end_);
  }

  TokenizeResult run(bool examples) {
    std::vector<MappedFile> files;
    for (const std::string& path : request_.inputs) {
      files.emplace_back(path);
      refuse_packed(path, files.back().text());
      input_bytes_ += files.back().bytes();
      if (has_extension(path, ".json")) {
        note(path + " is read as plain text: prompts and answers stand one a line in a .jsonl");
      }
    }
    if (!examples) result_.text_bytes = input_bytes_;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::int64_t documents = documents_ + result_.examples_left_out;
      if (examples) {
        add_examples(request_.inputs[i], files[i].text());
      } else {
        add_text(request_.inputs[i], files[i].text());
      }
      if (documents_ + result_.examples_left_out == documents) {
        note(request_.inputs[i] + " holds no text");
      }
    }
    if (writer_.tokens() == 0) refuse_nothing();
    if (!not_read_.empty()) {
      note(fmt::format("members of examples that are not read: {}", fmt::join(not_read_, ", ")));
    }
    TokenCard card;
    card.tokenizer = tokenizer_.name();
    card.vocabulary = tokenizer_.vocabulary_size();
    card.end_of_text = end_;
    result_.format = format_;
    result_.type = stored_type(format_, card.vocabulary);
    result_.card = writer_.finish(std::move(card));
    return std::move(result_);
  }

 private:
  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  [[noreturn]] void refuse_nothing() const {
    const std::string where = request_.inputs.size() == 1 ? request_.inputs.front() : "INPUT";
    if (result_.examples_left_out == 0) {
      throw Error(where, "holds no text", "nothing would be written: give a text");
    }
    throw Error(where,
                fmt::format("{} longer than {}",
                            result_.examples_left_out == 1
                                ? std::string("the only example is")
                                : fmt::format("all {} examples are", result_.examples_left_out),
                            counted(*request_.most_example_tokens, "token")),
                fmt::format("the shortest has {}: give --most-example-tokens at least that",
                            counted(shortest_left_out_, "token")));
  }

  // Every byte has a token, also those of archives and tables.
  static void refuse_packed(const std::string& path, std::string_view bytes) {
    if (const auto packed = recognise_packed_data(bytes)) {
      throw Error(path, "byte 0: " + packed->what + ", not text", packed->hint);
    }
  }

  void add_text(const std::string& path, std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = std::string_view::npos;
      if (request_.separator) end = text.find(*request_.separator, begin);
      const std::size_t next =
          end == std::string_view::npos ? text.size() : end + request_.separator->size();
      const std::string_view document = text.substr(begin, std::min(end, text.size()) - begin);
      if (document.find_first_not_of(" \t\r\n") != std::string_view::npos) {
        add_learned(prefix_);
        encode(document, fmt::format("{}, document at byte {}", path, begin),
               [this](std::span<const TokenId> ids) { add_learned(ids); });
        add_learned(suffix_);
        end_document();
      }
      done_ += static_cast<std::int64_t>(next - begin);
      begin = next;
      show();
    }
  }

  void add_examples(const std::string& path, std::string_view text) {
    std::int64_t line = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view content = text.substr(begin, end - begin);
      ++line;
      if (content.find_first_not_of(" \t\r") != std::string_view::npos) {
        add_example(content, fmt::format("{}, line {} at byte {}", path, line, begin));
      }
      done_ += static_cast<std::int64_t>(std::min(end + 1, text.size()) - begin);
      begin = end + 1;
      show();
    }
  }

  void add_example(std::string_view line, const std::string& where) {
    const Example example = parse_example(line, where);
    for (const std::string& name : example.not_read) {
      if (not_read_.size() >= kMostNamed) break;
      if (std::find(not_read_.begin(), not_read_.end(), name) == not_read_.end()) {
        not_read_.push_back(name);
      }
    }
    read_.assign(prefix_.begin(), prefix_.end());
    learned_.clear();
    const auto append_to = [](std::vector<TokenId>& to) {
      return [&to](std::span<const TokenId> ids) { to.insert(to.end(), ids.begin(), ids.end()); };
    };
    encode(example.prompt, where, append_to(read_));
    encode(example.answer, where, append_to(learned_));
    learned_.insert(learned_.end(), suffix_.begin(), suffix_.end());
    const auto tokens = static_cast<std::int64_t>(read_.size() + learned_.size());
    if (request_.most_example_tokens && tokens > *request_.most_example_tokens) {
      shortest_left_out_ =
          result_.examples_left_out == 0 ? tokens : std::min(shortest_left_out_, tokens);
      ++result_.examples_left_out;
      return;
    }
    result_.text_bytes += static_cast<std::int64_t>(example.prompt.size() + example.answer.size());
    writer_.add(read_, false);
    add_learned(learned_);
    end_document();
  }

  void end_document() {
    writer_.end_document();
    ++documents_;
  }

  void encode(std::string_view text, const std::string& where, const TokenSink& sink) {
    try {
      tokenizer_.encode(text, [&](std::span<const TokenId> ids) {
        if (const auto unknown = tokenizer_.unknown()) {
          result_.unknown_tokens += std::count(ids.begin(), ids.end(), *unknown);
        }
        sink(ids);
      });
    } catch (const Error& error) {
      throw error.inside(where);
    }
  }

  void add_learned(std::span<const TokenId> ids) {
    writer_.add(ids, true);
    result_.learned_tokens += static_cast<std::int64_t>(ids.size());
    show();
  }

  void show() const {
    if (show_) show_({done_, input_bytes_, writer_.tokens()});
  }

  const TokenizeRequest& request_;
  Tokenizer& tokenizer_;
  const ShowTokenizeProgress& show_;
  TokenFormat format_;
  std::vector<TokenId> prefix_;
  std::vector<TokenId> suffix_;
  TokenId end_;
  TokenWriter writer_;
  TokenizeResult result_;
  std::vector<TokenId> read_;
  std::vector<TokenId> learned_;
  std::vector<std::string> not_read_;  // of examples, the first few names
  std::int64_t input_bytes_ = 0;
  std::int64_t done_ = 0;
  std::int64_t documents_ = 0;
  std::int64_t shortest_left_out_ = 0;  // tokens
};

}  // namespace

TokenizeResult tokenize(const TokenizeRequest& request, Tokenizer& tokenizer,
                        const ShowTokenizeProgress& show) {
  const bool examples = check_request(request);
  return Run(request, tokenizer, show, examples).run(examples);
}

}  // namespace fourhold::engine::data

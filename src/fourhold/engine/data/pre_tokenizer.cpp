#include "fourhold/engine/data/pre_tokenizer.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::engine::data {
namespace {

// The pattern of GPT-2 (github.com/openai/gpt-2, src/encoder.py), which ByteLevel means by
// `use_regex`.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::string_view kSupported =
    "ByteLevel, Split and Digits are supported, alone or in a Sequence that ends in ByteLevel";

}  // namespace

PreTokenizer PreTokenizer::from_json(const json::Value& value, const std::string& where) {
  PreTokenizer result;
  if (value.is_null()) throw Error(where, "is missing", std::string(kSupported));
  result.add_steps(value, where);
  if (!result.ends_in_byte_level_) {
    throw Error(where, "does not end in ByteLevel: this is no byte-level tokenizer",
                std::string(kSupported));
  }
  return result;
}

void PreTokenizer::add_steps(const json::Value& value, const std::string& where) {
  FieldReader reader(value, where);
  const std::string type = reader.required_string("type");
  if (ends_in_byte_level_) {
    throw Error(where, fmt::format("{} after ByteLevel is not supported", type),
                std::string(kSupported));
  }
  if (type == "Sequence") {
    const json::Array* members = reader.array("pretokenizers");
    if (members == nullptr) throw Error(reader.path("pretokenizers"), "is missing", "");
    for (std::size_t i = 0; i < members->size(); ++i) {
      add_steps((*members)[i], fmt::format("{}[{}]", reader.path("pretokenizers"), i));
    }
  } else if (type == "ByteLevel") {
    add_byte_level(reader);
  } else if (type == "Split") {
    add_split(reader);
  } else if (type == "Digits") {
    add_digits(reader);
  } else {
    throw Error(reader.path("type"), fmt::format("'{:.40}' is not supported", type),
                std::string(kSupported));
  }
  reader.refuse_unread();
}

void PreTokenizer::add_byte_level(FieldReader& reader) {
  Step step;
  step.add_prefix_space = reader.boolean("add_prefix_space").value_or(true);
  (void)reader.boolean("trim_offsets");  // of positions in the text, which ids do not show
  if (reader.boolean("use_regex").value_or(true)) {
    step.pattern = SplitPattern::of_oniguruma(kGpt2Pattern, reader.path("use_regex"));
  }
  steps_.push_back(std::move(step));
  ends_in_byte_level_ = true;
}

void PreTokenizer::add_split(FieldReader& reader) {
  Step step;
  std::optional<FieldReader> pattern = reader.object("pattern");
  if (!pattern) throw Error(reader.path("pattern"), "is missing", std::string(kSupported));
  if (const auto regex = pattern->string("Regex")) {
    step.pattern = SplitPattern::of_oniguruma(*regex, pattern->path("Regex"));
  } else {
    step.pattern =
        SplitPattern::of_literal(pattern->required_string("String"), pattern->path("String"));
  }
  pattern->refuse_unread();
  const std::string behavior = reader.required_string("behavior");
  const bool invert = reader.boolean("invert").value_or(false);
  if (behavior == "Removed") {
    (invert ? step.between : step.match) = Fate::dropped;
  } else if (behavior != "Isolated") {
    throw Error(reader.path("behavior"), fmt::format("'{:.40}' is not supported", behavior),
                "Isolated and Removed are");
  }
  steps_.push_back(std::move(step));
}

void PreTokenizer::add_digits(FieldReader& reader) {
  Step step;
  const bool individual = reader.boolean("individual_digits").value_or(false);
  step.pattern = SplitPattern::of_oniguruma(individual ? R"(\p{N})" : R"(\p{N}+)",
                                            reader.path("individual_digits"));
  steps_.push_back(std::move(step));
}

void PreTokenizer::split(std::string_view text, const WordVisitor& visit) const {
  if (!text.empty()) split_from(0, text, visit);
}

void PreTokenizer::split_from(std::size_t index, std::string_view piece,
                              const WordVisitor& visit) const {
  if (index == steps_.size()) {
    visit(piece);
    return;
  }
  const Step& step = steps_[index];
  std::string spaced;
  if (step.add_prefix_space && !piece.starts_with(' ')) {
    spaced.reserve(piece.size() + 1);
    spaced.append(" ").append(piece);
    piece = spaced;
  }
  if (!step.pattern) {
    split_from(index + 1, piece, visit);
    return;
  }
  const auto pass_on = [&](std::size_t begin, std::size_t end, Fate fate) {
    if (begin < end && fate == Fate::word) {
      split_from(index + 1, piece.substr(begin, end - begin), visit);
    }
  };
  std::size_t reached = 0;
  while (reached < piece.size()) {
    const std::optional<SplitPattern::Match> match = step.pattern->find(piece, reached);
    if (!match) break;
    pass_on(reached, match->begin, step.between);
    pass_on(match->begin, match->end, step.match);
    reached = match->end;
  }
  pass_on(reached, piece.size(), step.between);
}

}  // namespace fourhold::engine::data

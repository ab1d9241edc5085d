#include "fourhold/engine/data/example.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/base/near_match.h"

namespace fourhold::engine::data {
namespace {

constexpr std::array<const char*, 3> kAnswers{"answer", "completion", "response"};
constexpr std::array<std::string_view, 4> kRead{"prompt", "answer", "completion", "response"};
constexpr std::string_view kWanted = R"(a line is {"prompt": "...", "answer": "..."})";

void refuse_misspelled(const FieldReader& reader) {
  for (const std::string& name : reader.unread()) {
    if (std::find(kRead.begin(), kRead.end(), name) != kRead.end()) continue;
    const std::string meant = likely_meant(name, {kRead.begin(), kRead.end()});
    if (meant.empty()) continue;
    throw Error(reader.path(name), "is not read", fmt::format("did you mean '{}'?", meant));
  }
}

Example read_example(FieldReader reader) {
  if (reader.has("messages")) {
    throw Error(reader.path("messages"),
                "is a conversation: which marks go around its turns depends on the model's chat "
                "template, which is not applied here",
                "write the text with the marks as prompt and answer");
  }
  for (const char* other : {"text", "input", "instruction"}) {
    if (!reader.has(other)) continue;
    throw Error(reader.path(other), "is not a prompt or an answer", std::string(kWanted));
  }
  refuse_misspelled(reader);
  Example example;
  example.prompt = reader.required_string("prompt");
  std::optional<std::string> answer;
  for (const char* name : kAnswers) {
    if (!reader.has(name)) continue;
    if (answer) throw Error(reader.path(name), "is a second answer", std::string(kWanted));
    answer = reader.required_string(name);
  }
  if (!answer) throw Error(reader.path("answer"), "is missing", std::string(kWanted));
  if (answer->empty()) {
    throw Error(reader.path("answer"), "is empty: nothing would be learned", std::string(kWanted));
  }
  example.answer = std::move(*answer);
  example.not_read = reader.unread();
  return example;
}

}  // namespace

Example parse_example(std::string_view line, const std::string& where) {
  const json::Value value = json::parse(line, where);
  try {
    return read_example(FieldReader(value, ""));
  } catch (const Error& error) {
    throw error.inside(where);
  }
}

}  // namespace fourhold::engine::data

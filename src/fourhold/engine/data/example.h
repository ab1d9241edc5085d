// Lines of prompts and answers: {"prompt": "...", "answer": "..."}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fourhold::engine::data {

struct Example {
  std::string prompt;  // read
  std::string answer;  // learned; not empty
};

// One line of a JSONL file. The answer may be called answer, completion or response; other members
// are ignored only where they name no text to train on (id, source, ...): `text` and `messages` are
// refused, because they mean another kind of line. Error with `where` and the field.
[[nodiscard]] Example parse_example(std::string_view line, const std::string& where);

}  // namespace fourhold::engine::data

// Lines of prompts and answers: {"prompt": "...", "answer": "..."}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fourhold::engine::data {

struct Example {
  std::string prompt;                 // read
  std::string answer;                 // learned; not empty
  std::vector<std::string> not_read;  // other members, by name
};

// One line of a JSONL file. The answer may be called answer, completion or response; other members
// are left unread, and listed, only where they name no text to train on (id, source, ...): `text`
// and `messages` are refused, because they mean another kind of line, and so is what is one slip of
// the pen away from a name that is read. Error with `where` and the field.
[[nodiscard]] Example parse_example(std::string_view line, const std::string& where);

}  // namespace fourhold::engine::data

// The `key=value` facts that stand among the words of a row's notes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace fourhold::measured {

// Notes are parts between semicolons and commas; a part that is a name, '=' and a value without
// blanks around the '=' is a fact. Words in front ("key flags: swiglu=true") end with a colon. The
// first of two facts of one name counts.
[[nodiscard]] std::map<std::string, std::string, std::less<>> facts_of(std::string_view notes);

}  // namespace fourhold::measured

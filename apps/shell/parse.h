// The words of a command line as values. Only parse.cpp knows the parsing library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/api/arguments.h"
#include "fourhold/api/verbs.h"

namespace fourhold::shell {

enum class ColorWhen : std::uint8_t { automatic, always, never };

struct ParsedVerb {
  api::Arguments arguments;
  api::Form form = api::Form::text;
  ColorWhen color = ColorWhen::automatic;
  bool help = false;  // asked for instead of an answer
};

// Parses what follows the verb. Error for an unknown flag (with the nearest ones), a flag without
// its value, a value behind a switch, and a switch or --color that stands twice.
[[nodiscard]] ParsedVerb parse_verb(const api::Verb& verb, const std::vector<std::string>& words);

}  // namespace fourhold::shell

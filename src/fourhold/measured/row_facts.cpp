#include "fourhold/measured/row_facts.h"

#include <algorithm>

#include "fourhold/base/ascii.h"

namespace fourhold::measured {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
  });
}

}  // namespace

std::map<std::string, std::string, std::less<>> facts_of(std::string_view notes) {
  std::map<std::string, std::string, std::less<>> facts;
  while (!notes.empty()) {
    const std::size_t end = std::min(notes.find_first_of(";,"), notes.size());
    std::string_view part = trimmed(notes.substr(0, end));
    notes.remove_prefix(std::min(end + 1, notes.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    if (const std::size_t colon = part.rfind(": ", equals); colon != std::string_view::npos) {
      part = trimmed(part.substr(colon + 2));
    }
    const std::size_t middle = part.find('=');
    const std::string_view name = part.substr(0, middle);
    const std::string_view value = part.substr(middle + 1);
    if (!is_name(name) || value.empty() || value.front() == ' ') continue;
    facts.emplace(name, value);
  }
  return facts;
}

}  // namespace fourhold::measured

#include "fourhold/engine/data/added_tokens.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace fourhold::engine::data {

void AddedTokens::add(std::string content, TokenId id) {
  assert(!content.empty());
  std::vector<Entry>& entries = by_first_byte_[static_cast<unsigned char>(content[0])];
  const auto place = std::find_if(entries.begin(), entries.end(), [&content](const Entry& entry) {
    return entry.content.size() < content.size();
  });
  entries.insert(place, {std::move(content), id});
}

std::optional<AddedTokens::Found> AddedTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    for (const Entry& entry : by_first_byte_[static_cast<unsigned char>(text[at])]) {
      if (text.substr(at, entry.content.size()) == entry.content) {
        return Found{at, at + entry.content.size(), entry.id};
      }
    }
  }
  return std::nullopt;
}

}  // namespace fourhold::engine::data

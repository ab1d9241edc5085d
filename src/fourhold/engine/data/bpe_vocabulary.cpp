#include "fourhold/engine/data/bpe_vocabulary.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/data/byte_alphabet.h"

namespace fourhold::engine::data {
namespace {

constexpr std::string_view kDamaged = "the tokenizer.json is damaged or not a byte-level one";

}  // namespace

BpeVocabulary::BpeVocabulary(const TokenizerJson& json) {
  Ids written;
  add_tokens(json, written);
  add_added_tokens(json, written);
  add_merges(json, written);
  check_around(json);
}

void BpeVocabulary::add_tokens(const TokenizerJson& json, Ids& written) {
  written.reserve(json.vocabulary.size());
  ids_.reserve(json.vocabulary.size());
  bytes_.reserve(json.vocabulary.size() + json.added.size());
  for (const auto& [token, id] : json.vocabulary) {
    const std::optional<std::string> bytes = bytes_of_characters(token);
    if (!bytes_.emplace(id, bytes.value_or(token)).second) {
      throw Error("model.vocab",
                  fmt::format("id {} is given to '{:.40}' and to another token", id, token),
                  std::string(kDamaged));
    }
    written.emplace(token, id);
    if (bytes) ids_.emplace(*bytes, id);
    size_ = std::max(size_, std::int64_t{id} + 1);
  }
  for (unsigned byte = 0; byte < byte_ids_.size(); ++byte) {
    const auto found = written.find(byte_character(static_cast<unsigned char>(byte)));
    byte_ids_[byte] = found == written.end() ? -1 : found->second;
  }
}

void BpeVocabulary::add_added_tokens(const TokenizerJson& json, const Ids& written) {
  for (std::size_t i = 0; i < json.added.size(); ++i) {
    const AddedToken& token = json.added[i];
    const auto known = written.find(token.content);
    const bool same = known != written.end() && known->second == token.id;
    const bool other_id = known != written.end() && !same;
    // A token of the vocabulary is decoded as it is written from now on.
    const bool id_is_taken = !same && bytes_.count(token.id) > 0;
    if (other_id || id_is_taken || !added_ids_.emplace(token.content, token.id).second) {
      throw Error(fmt::format("added_tokens[{}].id", i),
                  fmt::format("'{:.40}' has id {}, but {}", token.content, token.id,
                              other_id ? fmt::format("the vocabulary gives it {}", known->second)
                                       : std::string("another token has that id or text")),
                  std::string(kDamaged));
    }
    bytes_[token.id] = token.content;
    size_ = std::max(size_, std::int64_t{token.id} + 1);
  }
}

void BpeVocabulary::add_merges(const TokenizerJson& json, const Ids& written) {
  std::int32_t rank = 0;
  for (const auto& [left, right] : json.merges) {
    const auto id_of = [&](const std::string& token) {
      const auto found = written.find(token);
      if (found != written.end()) return found->second;
      throw Error(fmt::format("model.merges[{}]", rank),
                  fmt::format("'{:.40}' is not in the vocabulary", token), std::string(kDamaged));
    };
    const TokenId left_id = id_of(left);
    const TokenId right_id = id_of(right);
    if (!merges_.add(left_id, right_id, rank, id_of(left + right))) {
      throw Error(fmt::format("model.merges[{}]", rank),
                  fmt::format("'{:.40}' and '{:.40}' are merged twice", left, right),
                  std::string(kDamaged));
    }
    ++rank;
  }
}

void BpeVocabulary::check_around(const TokenizerJson& json) const {
  for (const auto* ids : {&json.prefix, &json.suffix}) {
    for (const TokenId id : *ids) {
      if (bytes(id) != nullptr) continue;
      throw Error("post_processor", fmt::format("adds id {}, which no token has", id),
                  std::string(kDamaged));
    }
  }
}

std::optional<TokenId> BpeVocabulary::find(std::string_view bytes) const {
  const auto found = ids_.find(bytes);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::optional<TokenId> BpeVocabulary::find_added(std::string_view text) const {
  const auto found = added_ids_.find(text);
  if (found == added_ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* BpeVocabulary::bytes(TokenId id) const {
  const auto found = bytes_.find(id);
  return found == bytes_.end() ? nullptr : &found->second;
}

}  // namespace fourhold::engine::data

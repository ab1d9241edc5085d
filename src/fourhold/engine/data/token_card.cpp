#include "fourhold/engine/data/token_card.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/text_file.h"

namespace fourhold::engine::data {
namespace {

constexpr std::string_view kSchema = "fourhold.tokens/1";
constexpr std::int64_t kMostCardBytes = 1 << 20;

std::string hash_of(const std::string& text, const std::string& field) {
  const bool valid =
      text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (valid) return text;
  throw Error(field, fmt::format("'{:.40}' is not 16 hexadecimal digits", text),
              "make the data again with fourhold tokenize");
}

TokenCard card_of(const json::Value& value) {
  FieldReader reader(value, "");
  const std::string schema = reader.required_string("schema");
  if (schema != kSchema) {
    throw Error("schema", fmt::format("'{:.60}' is not {}", schema, kSchema),
                "this is not the card of a token file, or one of a newer program");
  }
  constexpr std::int64_t kMostIds = info(TokenType::uint32).largest_vocabulary;
  TokenCard card;
  card.tokenizer = reader.required_string("tokenizer");
  card.vocabulary = reader.required_integer("vocabulary", {1, kMostIds});
  if (const auto id = reader.integer("end_of_text", {0, card.vocabulary - 1})) {
    card.end_of_text = static_cast<TokenId>(*id);
  }
  card.tokens = reader.required_integer("tokens", {0, std::int64_t{1} << 60});
  card.documents = reader.required_integer("documents", {0, card.tokens});
  card.hash = hash_of(reader.required_string("hash"), "hash");
  if (const auto hash = reader.string("mask_hash")) card.mask_hash = hash_of(*hash, "mask_hash");
  reader.refuse_unread();
  return card;
}

}  // namespace

std::string card_path(const std::string& bin_path) { return bin_path + ".json"; }
std::string mask_path(const std::string& bin_path) { return bin_path + ".mask"; }

json::Value to_json(const TokenCard& card) {
  const auto or_null = [](const auto& value) {
    return value ? json::Value(*value) : json::Value(nullptr);
  };
  return json::Object{{"schema", kSchema},
                      {"tokenizer", card.tokenizer},
                      {"vocabulary", card.vocabulary},
                      {"end_of_text", or_null(card.end_of_text)},
                      {"tokens", card.tokens},
                      {"documents", card.documents},
                      {"hash", card.hash},
                      {"mask_hash", or_null(card.mask_hash)}};
}

TokenCard token_card_from_json(std::string_view text, const std::string& where) {
  const json::Value value = json::parse(text, where);
  try {
    return card_of(value);
  } catch (const Error& error) {
    throw error.inside(where);
  }
}

std::optional<TokenCard> read_token_card(const std::string& bin_path) {
  const std::string path = card_path(bin_path);
  std::error_code fault;
  if (!std::filesystem::exists(path, fault)) return std::nullopt;
  return token_card_from_json(read_text_file(path, kMostCardBytes), path);
}

}  // namespace fourhold::engine::data

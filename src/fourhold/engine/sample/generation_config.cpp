#include "fourhold/engine/sample/generation_config.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"

namespace fourhold::engine {
namespace {

constexpr std::string_view kStop = "eos_token_id";

// Members that change nothing of what is generated here: where they are from, ids that pad or begin
// batches, and lengths, which are asked for.
constexpr std::array<std::string_view, 10> kWithoutEffect{
    "_from_model_config", "bos_token_id",      "decoder_start_token_id", "max_length",
    "max_new_tokens",     "pad_token_id",      "transformers_version",   "use_cache",
    "user_token_id",      "assistant_token_id"};

data::TokenId token_of(const json::Value& value, const std::string& path, std::int64_t vocabulary) {
  const bool is_id = value.is_integer() && value.integer() >= 0 && value.integer() < vocabulary;
  if (is_id) return static_cast<data::TokenId>(value.integer());
  throw Error(path,
              fmt::format("is {:.40}, which is no id of the vocabulary of {}",
                          json::write(value, json::Layout::one_line), vocabulary),
              fmt::format("give an id from 0 to {} or a list of them, or take {} out",
                          vocabulary - 1, kStop));
}

std::optional<std::vector<data::TokenId>> stop_tokens(FieldReader& fields,
                                                      std::int64_t vocabulary) {
  const json::Value* value = fields.value(kStop);
  if (value == nullptr) return std::nullopt;
  std::vector<data::TokenId> ids;
  if (!value->is_array()) return std::vector{token_of(*value, fields.path(kStop), vocabulary)};
  for (const json::Value& one : value->array()) {
    ids.push_back(token_of(one, fmt::format("{}[{}]", kStop, ids.size()), vocabulary));
  }
  return ids;
}

// A member that says what happens anyway: published files spell out defaults.
bool says_nothing(const json::Value& value) {
  const bool is_neutral_number = value.is_number() && (value.number() == 0 || value.number() == 1);
  const bool is_off = value.is_boolean() && !value.boolean();
  return value.is_null() || is_neutral_number || is_off;
}

GenerationConfig read_fields(FieldReader& fields, std::int64_t vocabulary) {
  GenerationConfig config;
  config.stop_tokens = stop_tokens(fields, vocabulary);
  config.draws = fields.boolean("do_sample");
  config.temperature = fields.number("temperature", {0, 100});
  config.top_k = fields.integer("top_k", {0, std::int64_t{1} << 31});
  config.top_p = fields.number("top_p", {1e-6, 1});
  for (const auto& [name, value] : fields.unread_members()) {
    const bool known =
        std::find(kWithoutEffect.begin(), kWithoutEffect.end(), name) != kWithoutEffect.end();
    if (!known && !says_nothing(value)) config.not_applied.push_back(fmt::format("{:.60}", name));
  }
  return config;
}

}  // namespace

std::optional<std::vector<data::TokenId>> read_stop_tokens(const json::Value& config,
                                                           std::int64_t vocabulary,
                                                           const std::string& where) {
  try {
    FieldReader fields(config, "");
    return stop_tokens(fields, vocabulary);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

GenerationConfig parse_generation_config(std::string_view text, std::int64_t vocabulary,
                                         const std::string& where) {
  const json::Value document = json::parse(text, where, json::Literals::nan_and_infinity);
  try {
    FieldReader fields(document, "");
    return read_fields(fields, vocabulary);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

}  // namespace fourhold::engine

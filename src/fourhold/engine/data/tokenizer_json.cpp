#include "fourhold/engine/data/tokenizer_json.h"

#include <limits>
#include <optional>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/engine/data/post_processor.h"

namespace fourhold::engine::data {
namespace {

constexpr std::int64_t kMostId = std::numeric_limits<TokenId>::max() - 1;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(path, what + " is not supported",
              "byte-level BPE is, as GPT-2, Llama 3, Qwen and DeepSeek use it");
}

// An absent, null, false, zero or empty member means that a feature is not used.
void refuse_if_used(FieldReader& reader, std::string_view key) {
  const json::Value* value = reader.value(key);
  if (value == nullptr) return;
  const bool unused = (value->is_boolean() && !value->boolean()) ||
                      (value->is_number() && value->number() == 0) ||
                      (value->is_string() && value->string().empty());
  if (!unused) refuse(reader.path(key), fmt::format("'{}'", key));
}

void read_vocabulary(FieldReader& model, TokenizerJson& result) {
  const json::Value* vocabulary = model.value("vocab");
  if (vocabulary == nullptr || !vocabulary->is_object()) {
    throw Error(model.path("vocab"), "is not an object of tokens and their ids",
                "this is no BPE tokenizer.json");
  }
  result.vocabulary.reserve(vocabulary->object().size());
  for (const auto& [token, id] : vocabulary->object()) {
    const std::string path = fmt::format("{}['{:.40}']", model.path("vocab"), token);
    result.vocabulary.emplace_back(token, static_cast<TokenId>(integer_of(id, path, {0, kMostId})));
  }
}

std::pair<std::string, std::string> merge_of(const json::Value& value, const std::string& path) {
  if (value.is_string()) {
    const std::string& text = value.string();
    const std::size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
      return {text.substr(0, space), text.substr(space + 1)};
    }
  } else if (value.is_array() && value.array().size() == 2 && value.array()[0].is_string() &&
             value.array()[1].is_string()) {
    return {value.array()[0].string(), value.array()[1].string()};
  }
  throw Error(path, "is no pair of tokens", "\"a b\" and [\"a\", \"b\"] are read");
}

void read_merges(FieldReader& model, TokenizerJson& result) {
  const json::Array* merges = model.array("merges");
  if (merges == nullptr) throw Error(model.path("merges"), "is missing", "BPE needs merges");
  result.merges.reserve(merges->size());
  for (std::size_t i = 0; i < merges->size(); ++i) {
    result.merges.push_back(merge_of((*merges)[i], fmt::format("{}[{}]", model.path("merges"), i)));
  }
}

void read_model(FieldReader& document, TokenizerJson& result) {
  std::optional<FieldReader> model = document.object("model");
  if (!model) throw Error("model", "is missing", "this is no tokenizer.json");
  const std::string type = model->string("type").value_or("BPE");  // older files do not say
  if (type != "BPE") refuse(model->path("type"), fmt::format("'{:.40}'", type));
  for (const std::string_view key :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"}) {
    refuse_if_used(*model, key);
  }
  // Every byte has a token of its own here, so nothing is unknown (checked when a word is encoded).
  (void)model->string("unk_token");
  (void)model->boolean("fuse_unk");
  result.ignore_merges = model->boolean("ignore_merges").value_or(false);
  read_vocabulary(*model, result);
  read_merges(*model, result);
  model->refuse_unread();
}

void read_added_tokens(FieldReader& document, TokenizerJson& result) {
  const json::Array* tokens = document.array("added_tokens");
  if (tokens == nullptr) return;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    FieldReader reader((*tokens)[i], fmt::format("added_tokens[{}]", i));
    for (const std::string_view key : {"single_word", "lstrip", "rstrip"}) {
      refuse_if_used(reader, key);
    }
    AddedToken token;
    token.id = static_cast<TokenId>(reader.required_integer("id", {0, kMostId}));
    token.content = reader.required_string("content");
    token.special = reader.boolean("special").value_or(false);
    token.normalized = reader.boolean("normalized").value_or(!token.special);
    if (token.content.empty()) {
      throw Error(reader.path("content"), "is empty", "a token has a text");
    }
    reader.refuse_unread();
    result.added.push_back(std::move(token));
  }
}

Normalization normalization_of(const json::Value& value, const std::string& path) {
  FieldReader reader(value, path);
  const std::string type = reader.required_string("type");
  Normalization result = Normalization::none;
  if (type == "NFC") {
    result = Normalization::nfc;
  } else if (type == "Sequence") {
    const json::Array* members = reader.array("normalizers");
    for (std::size_t i = 0; members != nullptr && i < members->size(); ++i) {
      const std::string member = fmt::format("{}[{}]", reader.path("normalizers"), i);
      if (normalization_of((*members)[i], member) == Normalization::nfc) {
        result = Normalization::nfc;  // NFC of NFC is itself
      }
    }
  } else {
    refuse(reader.path("type"), fmt::format("the normalizer '{:.40}'", type));
  }
  reader.refuse_unread();
  return result;
}

// Only what decodes is told here: ids do not depend on it, but text would be wrong.
void check_decoder(FieldReader& document) {
  std::optional<FieldReader> decoder = document.object("decoder");
  if (!decoder) return;
  const std::string type = decoder->required_string("type");
  if (type != "ByteLevel") refuse(decoder->path("type"), fmt::format("the decoder '{:.40}'", type));
}

TokenizerJson read_document(const json::Value& value) {
  FieldReader document(value, "");
  TokenizerJson result;
  (void)document.string("version");
  refuse_if_used(document, "truncation");
  refuse_if_used(document, "padding");
  read_model(document, result);
  read_added_tokens(document, result);
  if (const json::Value* normalizer = document.value("normalizer")) {
    result.normalization = normalization_of(*normalizer, "normalizer");
  }
  const json::Value* pre_tokenizer = document.value("pre_tokenizer");
  result.pre_tokenizer = PreTokenizer::from_json(
      pre_tokenizer == nullptr ? json::Value(nullptr) : *pre_tokenizer, "pre_tokenizer");
  if (const json::Value* processor = document.value("post_processor")) {
    read_post_processor(*processor, "post_processor", result.prefix, result.suffix);
  }
  check_decoder(document);
  document.refuse_unread();
  return result;
}

}  // namespace

TokenizerJson parse_tokenizer_json(std::string_view text, const std::string& where) {
  const json::Value value = json::parse(text, where);
  try {
    return read_document(value);
  } catch (const Error& error) {
    throw error.inside(where);
  }
}

}  // namespace fourhold::engine::data

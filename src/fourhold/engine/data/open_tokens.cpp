// Opening token files: which format it is, and that everything in it is as it should be.
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/content_hash.h"
#include "fourhold/engine/data/foreign_data.h"
#include "fourhold/engine/data/token_source.h"

namespace fourhold::engine::data {
namespace {

bool exists(const std::string& path) {
  std::error_code fault;
  return std::filesystem::exists(path, fault);
}

struct Files {
  std::string bin;
  std::optional<std::string> idx;
};

// "x.bin", "x.idx" and "x" all name a Megatron data set where both files are there.
Files files_of(const std::string& path, std::optional<TokenFormat> format) {
  const auto ends_with = [&path](std::string_view end) {
    return std::string_view(path).ends_with(end);
  };
  std::string prefix = path;
  const bool has_extension = ends_with(".bin") || ends_with(".idx");
  if (has_extension) prefix.resize(path.size() - 4);
  Files files{path, std::nullopt};
  const bool said = format == TokenFormat::megatron;
  if (format && !said) return files;
  const bool named = said || ends_with(".idx") || (!has_extension && !exists(path));
  if (!named && !(ends_with(".bin") && exists(prefix + ".idx"))) return files;
  files = {prefix + ".bin", prefix + ".idx"};
  for (const std::string& file : {files.bin, *files.idx}) {
    if (exists(file)) continue;
    if (!said && !ends_with(".idx") && !exists(*files.idx)) {
      throw Error(path, "does not exist", "check the path");
    }
    throw Error(file, "does not exist", "a Megatron data set needs its .bin and its .idx");
  }
  return files;
}

// uint16 and the like cannot hold every id of a large vocabulary, and writers have let them wrap
// (princeton-nlp/LLM-Shearing#65, huggingface/datatrove#118).
void check_vocabulary(const TokenLayout& layout, const OpenTokens& options,
                      const std::optional<TokenCard>& card, const std::string& path) {
  if (card && card->vocabulary > options.model_vocabulary) {
    throw Error(path,
                fmt::format("was made by a tokenizer of {} ids ({}), but the model has {}",
                            format_count(card->vocabulary), card->tokenizer,
                            format_count(options.model_vocabulary)),
                "give a model with as large a vocabulary, or tokenize with the model's tokenizer");
  }
  if (card && options.tokenizer_vocabulary && *options.tokenizer_vocabulary != card->vocabulary) {
    throw Error(
        "--tokenizer-vocabulary",
        fmt::format("{} ids, but the card {} says {}", format_count(*options.tokenizer_vocabulary),
                    card_path(path), format_count(card->vocabulary)),
        "leave it out: the card counts");
  }
  if (options.tokenizer_vocabulary && *options.tokenizer_vocabulary > options.model_vocabulary) {
    throw Error("--tokenizer-vocabulary",
                fmt::format("{} ids are more than the {} of the model",
                            format_count(*options.tokenizer_vocabulary),
                            format_count(options.model_vocabulary)),
                "give a model with as large a vocabulary, or tokenize with the model's tokenizer");
  }
  std::int64_t vocabulary = options.model_vocabulary;
  if (options.tokenizer_vocabulary) vocabulary = *options.tokenizer_vocabulary;
  if (card) vocabulary = card->vocabulary;
  const TokenTypeInfo& type = info(layout.type);
  if (vocabulary <= type.largest_vocabulary) return;
  throw Error(
      path,
      fmt::format("stores {} tokens, which cannot hold a vocabulary of {}: ids from {} on would "
                  "have wrapped",
                  type.name, format_count(vocabulary), format_count(type.largest_vocabulary)),
      fmt::format("write uint32, as fourhold tokenize does above {}; if a tokenizer with fewer ids "
                  "made the file, give --tokenizer-vocabulary",
                  format_count(info(TokenType::uint16).largest_vocabulary)));
}

void check_hash(std::string_view bytes, const std::string& expected, const std::string& path) {
  const std::string actual = content_hash(bytes);
  if (actual == expected) return;
  throw Error(path, fmt::format("has the hash {}, but its card says {}", actual, expected),
              "the file was changed or damaged after it was made: make it again");
}

MappedFile open_mask(const std::string& bin, const TokenCard& card, std::int64_t count) {
  const std::string path = mask_path(bin);
  MappedFile mask(path);
  const auto bytes = static_cast<std::int64_t>(mask.text().size());
  if (bytes != count) {
    throw Error(path,
                fmt::format("byte {}: has {} bytes for {} tokens", bytes < count ? bytes : count,
                            format_count(bytes), format_count(count)),
                "a mask has one byte for each token: make the data again");
  }
  const std::size_t bad = mask.text().find_first_not_of(std::string_view("\0\1", 2));
  if (bad != std::string_view::npos) {
    throw Error(path,
                fmt::format("byte {}: {} is neither 0 (read) nor 1 (learned)", bad,
                            static_cast<unsigned char>(mask.text()[bad])),
                "the mask is damaged: make the data again");
  }
  check_hash(mask.text(), *card.mask_hash, path);
  return mask;
}

// Ids are of the model, and of the tokenizer where its size is said.
void check_ids(const TokenLayout& layout, std::string_view bytes, const OpenTokens& options,
               const std::string& path) {
  const std::int64_t vocabulary =
      options.tokenizer_vocabulary.value_or(options.model_vocabulary);  // at most the model's
  const auto bad =
      first_outside(bytes.data() + layout.first_byte, layout.type, layout.count, vocabulary);
  if (!bad) return;
  if (layout.format == TokenFormat::nanogpt) {
    if (const auto text = recognise_short_text(bytes)) {
      throw Error(path, "byte 0: " + text->what + ", not tokens", text->hint);
    }
  }
  const std::string where =
      fmt::format("byte {}: token {} is {}, outside",
                  layout.first_byte + bad->index * info(layout.type).bytes, bad->index, bad->value);
  if (options.tokenizer_vocabulary && bad->value < options.model_vocabulary) {
    throw Error(path,
                fmt::format("{} the {} ids given by --tokenizer-vocabulary", where,
                            format_count(vocabulary)),
                "give the ids of the tokenizer that made the file, or leave the option out");
  }
  throw Error(
      path,
      fmt::format("{} the model's vocabulary of {}", where, format_count(options.model_vocabulary)),
      "the file is of another tokenizer or another type (uint16 read as uint32 looks like "
      "noise), or it is damaged");
}

}  // namespace

TokenSource open_tokens(const std::string& path, const OpenTokens& options) {
  const Files files = files_of(path, options.format);
  MappedFile file(files.bin);
  const std::string_view bytes = file.text();
  TokenLayout layout;
  std::optional<MappedFile> index_file;
  std::optional<MegatronIndex> index;
  if (files.idx) {
    index_file.emplace(*files.idx);
    index.emplace(index_file->text(), *files.idx);
    layout = {TokenFormat::megatron, index->type(), 0, index->tokens()};
    check_token_bytes(static_cast<std::int64_t>(bytes.size()), layout.count, layout.type, 0,
                      files.bin);
  } else {
    layout = options.format ? token_layout_as(*options.format, bytes, files.bin)
                            : token_layout(bytes, files.bin);
  }
  const std::optional<TokenCard> card = read_token_card(files.bin);
  if (card && card->tokens != layout.count) {
    throw Error(files.bin,
                fmt::format("has {} tokens, but its card {} says {}", format_count(layout.count),
                            card_path(files.bin), format_count(card->tokens)),
                "the two are of different data: make them again");
  }
  check_vocabulary(layout, options, card, files.bin);

  TokenSource source(std::move(file), layout);
  check_ids(layout, bytes, options, files.bin);
  if (card) {
    source.tokenizer_ = card->tokenizer;
    check_hash(bytes.substr(static_cast<std::size_t>(layout.first_byte)), card->hash, files.bin);
    source.hash_ = card->hash;
  }
  source.index_file_ = std::move(index_file);
  source.index_ = index;
  if (card && card->mask_hash) {
    if (!index || index->documents() != card->documents) {
      throw Error(files.bin,
                  fmt::format("has a mask for {} examples, but no index of as many documents",
                              format_count(card->documents)),
                  "the .idx file is missing or of other data: make the data again");
    }
    source.mask_ = open_mask(files.bin, *card, layout.count);
  }
  return source;
}

}  // namespace fourhold::engine::data

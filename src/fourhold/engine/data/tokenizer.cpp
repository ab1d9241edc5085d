#include "fourhold/engine/data/tokenizer.h"

#include <filesystem>
#include <system_error>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/data/byte_bpe_tokenizer.h"
#include "fourhold/engine/data/byte_tokenizer.h"
#include "fourhold/engine/data/foreign_data.h"
#include "fourhold/engine/data/sentencepiece_tokenizer.h"

namespace fourhold::engine::data {
namespace {

// The largest published ones have some 35 MB.
constexpr std::int64_t kMostTokenizerBytes = 256 << 20;

// A folder holds one under the name it is published by.
std::string file_in(const std::string& folder) {
  std::error_code fault;
  for (const char* name : {"tokenizer.json", "tokenizer.model"}) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(file, fault)) return file.string();
  }
  throw Error(folder, "holds neither tokenizer.json nor tokenizer.model",
              "name the tokenizer's file, or 'bytes'");
}

}  // namespace

std::vector<TokenId> Tokenizer::encode(std::string_view text) {
  std::vector<TokenId> ids;
  encode(text, [&ids](std::span<const TokenId> piece) {
    ids.insert(ids.end(), piece.begin(), piece.end());
  });
  return ids;
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name) {
  if (name == "bytes") return make_byte_tokenizer();
  std::error_code fault;
  if (!std::filesystem::exists(name, fault)) {
    const std::string meant = did_you_mean(name, {"bytes"});
    throw Error(name, "is no tokenizer: there is no such file",
                meant.empty() ? "give 'bytes', a tokenizer.json or a SentencePiece .model" : meant);
  }
  const bool is_folder = std::filesystem::is_directory(name, fault);
  const std::string path = is_folder ? file_in(name) : name;
  const std::string text = read_text_file(path, kMostTokenizerBytes);
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string::npos && text[first] == '{') return make_byte_bpe_tokenizer(text, path);
  if (std::string_view(text).starts_with("version https://git-lfs")) {
    throw Error(path, "is a Git LFS pointer, not a tokenizer", "run 'git lfs pull' in its folder");
  }
  constexpr const char* kGive = "give 'bytes', a tokenizer.json or a SentencePiece .model";
  if (text.empty()) throw Error(path, "is empty, and no tokenizer", kGive);
  std::optional<ForeignData> foreign = recognise_packed_data(text);
  if (!foreign) foreign = recognise_short_text(text);
  if (foreign) throw Error(path, foreign->what + ", not a tokenizer", kGive);
  return make_sentencepiece_tokenizer(text, path);
}

}  // namespace fourhold::engine::data

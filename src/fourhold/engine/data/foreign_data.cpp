#include "fourhold/engine/data/foreign_data.h"

#include <algorithm>
#include <array>

#include "fourhold/base/utf8.h"

namespace fourhold::engine::data {
namespace {

struct Signature {
  std::string_view bytes;
  std::string_view what;
  std::string_view hint;
};

constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kGive = "give a text, or a token file (llm.c, nanoGPT, Megatron)";
constexpr std::string_view kIsText = "is text";
constexpr std::string_view kTokenize = "make tokens of it first: fourhold tokenize";
constexpr std::string_view kConvert = "write its text to a .txt or .jsonl file, then tokenize that";

// First bytes as the formats publish them.
constexpr std::array kSignatures{
    Signature{"version https://git-lfs", "is a Git LFS pointer",
              "run 'git lfs pull' in its folder, or download the file itself"},
    Signature{"\x1F\x8B", "is a gzip archive", kUnpack},
    Signature{"BZh91AY&SY", "is a bzip2 archive", kUnpack},
    Signature{"\xFD"
              "7zXZ",
              "is an xz archive", kUnpack},
    Signature{"\x28\xB5\x2F\xFD", "is a zstd archive", kUnpack},
    Signature{"PK\x03\x04", "is a zip archive, as PyTorch files are", kGive},
    Signature{"\x93NUMPY", "is a NumPy .npy file",
              "write the array with .tofile() instead of numpy.save"},
    Signature{"PAR1", "is a Parquet file", kConvert},
    Signature{"ARROW1", "is an Arrow file", kConvert},
    Signature{"GGUF", "is a GGUF model", kGive},
    Signature{std::string_view("MMIDIDX\0\0", 9), "is the index of a Megatron data set",
              "name it with the extension .idx, beside its .bin"},
    Signature{"\x7F"
              "ELF",
              "is a program", kGive},
};

// Texts are short of control characters and valid UTF-8; eight random tokens in a row would look so
// once in ten million files.
bool looks_like_text(std::string_view file) {
  constexpr std::size_t kLeast = 16;
  constexpr std::size_t kMost = 4096;
  if (file.size() < kLeast) return false;
  const std::string_view start = file.substr(0, kMost);
  for (std::size_t at = 0; at < start.size();) {
    const Utf8Character character = utf8_character_at(start, at);
    const bool cut = start.size() < file.size() && start.size() - at < 4;
    if (character.code == Utf8Character::kInvalid) return cut;
    const char32_t code = character.code;
    if (code < 0x20 && code != '\t' && code != '\n' && code != '\r' && code != '\f') return false;
    at += character.bytes;
  }
  return true;
}

}  // namespace

std::optional<ForeignData> recognise_packed_data(std::string_view file) {
  for (const Signature& signature : kSignatures) {
    if (file.starts_with(signature.bytes)) {
      return ForeignData{std::string(signature.what), std::string(signature.hint)};
    }
  }
  return std::nullopt;
}

std::optional<ForeignData> recognise_foreign_data(std::string_view file) {
  if (auto packed = recognise_packed_data(file)) return packed;
  if (!looks_like_text(file)) return std::nullopt;
  const std::size_t first = file.find_first_not_of(" \t\r\n");
  const std::string_view text = first == std::string_view::npos ? file : file.substr(first);
  if (text.size() > 1 && text[0] == '<' && (text[1] == '!' || (text[1] | 0x20) == 'h')) {
    return ForeignData{"is an HTML page",
                       "the download was answered by a page: log in or fetch the raw file"};
  }
  return ForeignData{std::string(kIsText), std::string(kTokenize)};
}

std::optional<ForeignData> recognise_short_text(std::string_view file) {
  constexpr std::size_t kMost = 4096;
  constexpr std::string_view kBlanks = "\t\n\r\f";
  const std::string_view start = file.substr(0, kMost);
  const bool printable = std::all_of(start.begin(), start.end(), [&](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || kBlanks.find(c) != std::string_view::npos;
  });
  if (start.empty() || !printable) return std::nullopt;
  return ForeignData{std::string(kIsText), std::string(kTokenize)};
}

}  // namespace fourhold::engine::data

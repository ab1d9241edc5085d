#include "fourhold/engine/data/megatron_index.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/foreign_data.h"

namespace fourhold::engine::data {
namespace {

constexpr std::string_view kCutShort = "the index is cut short or damaged: copy or make it again";
constexpr std::string_view kIndexDamaged = "the index is damaged: make it again";

struct TypeCode {
  std::uint8_t code;
  std::string_view name;
  std::optional<TokenType> type;  // none: no type of token ids
};

constexpr std::array<TypeCode, 8> kTypeCodes{{{1, "uint8", TokenType::uint8},
                                              {2, "int8", std::nullopt},
                                              {3, "int16", TokenType::int16},
                                              {4, "int32", TokenType::int32},
                                              {5, "int64", TokenType::int64},
                                              {6, "float64", std::nullopt},
                                              {7, "float32", std::nullopt},
                                              {8, "uint16", TokenType::uint16}}};

template <typename T>
T value_at(std::string_view file, std::int64_t byte) {
  T value{};
  std::memcpy(&value, file.data() + byte, sizeof value);
  return value;
}

[[noreturn]] void fail(const std::string& where, std::int64_t byte, const std::string& what,
                       std::string_view hint) {
  throw Error(where, fmt::format("byte {}: {}", byte, what), std::string(hint));
}

TokenType type_of_code(std::uint8_t code, const std::string& where) {
  for (const TypeCode& known : kTypeCodes) {
    if (known.code != code) continue;
    if (known.type) return *known.type;
    fail(where, 17, fmt::format("type {} is {}, which holds no token ids", code, known.name),
         "uint8, uint16, int16, int32 and int64 are read");
  }
  fail(where, 17, fmt::format("type {} is unknown", code), kIndexDamaged);
}

}  // namespace

std::optional<std::uint8_t> megatron_code(TokenType type) {
  for (const TypeCode& known : kTypeCodes) {
    if (known.type == type) return known.code;
  }
  return std::nullopt;
}

MegatronIndex::MegatronIndex(std::string_view file, const std::string& where) : file_(file) {
  if (!file.starts_with(kMegatronMagic)) {
    const std::string_view magic = file.substr(0, kMegatronMagic.size());
    if (file.size() >= kMegatronMagic.size() || !kMegatronMagic.starts_with(magic)) {
      const auto foreign = recognise_foreign_data(file);
      fail(where, 0, foreign ? foreign->what : "does not begin with MMIDIDX",
           "this is not the index of a Megatron data set");
    }
  }
  if (static_cast<std::int64_t>(file.size()) < kMegatronHeaderBytes) {
    fail(where, static_cast<std::int64_t>(file.size()),
         fmt::format("ends inside the header, which has {} bytes", kMegatronHeaderBytes),
         kCutShort);
  }
  const auto version = value_at<std::uint64_t>(file, 9);
  if (version != 1) fail(where, 9, fmt::format("version {}; 1 is known", version), kIndexDamaged);
  type_ = type_of_code(value_at<std::uint8_t>(file, 17), where);
  read_counts(where);
  check_sequences(where);
  check_documents(where);
}

void MegatronIndex::read_counts(const std::string& where) {
  const auto bytes = static_cast<std::int64_t>(file_.size());
  const auto count_at = [&](std::int64_t byte, std::string_view noun) {
    const auto count = value_at<std::uint64_t>(file_, byte);
    if (count > static_cast<std::uint64_t>(bytes)) {  // each takes several bytes of the file
      fail(where, byte, fmt::format("{} {} do not fit in {} bytes", count, noun, bytes), kCutShort);
    }
    return static_cast<std::int64_t>(count);
  };
  sequences_ = count_at(18, "sequences");
  boundaries_ = count_at(26, "documents");
  const std::int64_t expected =
      kMegatronHeaderBytes + checked_add(checked_multiply(sequences_, 12), boundaries_ * 8);
  if (bytes == expected + sequences_ && sequences_ > 0) {
    fail(where, expected, "has a mode for each sequence, as multimodal data sets do",
         "make a data set of text alone");
  }
  if (bytes != expected) {
    fail(where, bytes < expected ? bytes : expected,
         fmt::format("{} sequences and {} document boundaries take {} bytes, but the index has {}",
                     format_count(sequences_), format_count(boundaries_), format_count(expected),
                     format_count(bytes)),
         kCutShort);
  }
  if (boundaries_ == 0)
    fail(where, 26, "no document boundary; the first is always 0", kIndexDamaged);
}

void MegatronIndex::check_sequences(const std::string& where) {
  const int width = info(type_).bytes;
  for (std::int64_t i = 0; i < sequences_; ++i) {
    if (length(i) < 0) {
      fail(where, kMegatronHeaderBytes + 4 * i,
           fmt::format("sequence {} has {} tokens", i, length(i)), kIndexDamaged);
    }
    const std::int64_t expected = checked_multiply(tokens_, width);
    if (pointer(i) != expected) {
      fail(
          where, kMegatronHeaderBytes + 4 * sequences_ + 8 * i,
          fmt::format("sequence {} begins at byte {} of the .bin, but the ones before it end at {}",
                      i, pointer(i), expected),
          pointer(i) > 0 && (pointer(i) == expected / 2 || pointer(i) / 2 == expected)
              ? "the offsets are of another type than the header says (uint16 and int32 mixed up)"
              : kIndexDamaged);
    }
    tokens_ = checked_add(tokens_, length(i));
  }
}

void MegatronIndex::check_documents(const std::string& where) const {
  const std::int64_t first = kMegatronHeaderBytes + 12 * sequences_;
  std::int64_t reached = 0;
  for (std::int64_t i = 0; i < boundaries_; ++i) {
    const std::int64_t at = boundary(i);
    if ((i == 0 && at != 0) || at < reached || at > sequences_) {
      fail(where, first + 8 * i,
           fmt::format("document {} begins at sequence {}; expected {}", i, at,
                       i == 0 ? std::string("0") : fmt::format("{} to {}", reached, sequences_)),
           kIndexDamaged);
    }
    reached = at;
  }
  if (reached != sequences_) {
    fail(where, first + 8 * (boundaries_ - 1),
         fmt::format("the last document ends at sequence {} of {}", reached, sequences_),
         kIndexDamaged);
  }
}

std::int64_t MegatronIndex::document_start(std::int64_t document) const {
  const std::int64_t sequence = boundary(document);
  return sequence == sequences_ ? tokens_ : pointer(sequence) / info(type_).bytes;
}

std::int64_t MegatronIndex::length(std::int64_t sequence) const {
  return value_at<std::int32_t>(file_, kMegatronHeaderBytes + 4 * sequence);
}

std::int64_t MegatronIndex::pointer(std::int64_t sequence) const {
  return value_at<std::int64_t>(file_, kMegatronHeaderBytes + 4 * sequences_ + 8 * sequence);
}

std::int64_t MegatronIndex::boundary(std::int64_t document) const {
  return value_at<std::int64_t>(file_, kMegatronHeaderBytes + 12 * sequences_ + 8 * document);
}

}  // namespace fourhold::engine::data

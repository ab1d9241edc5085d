// The .idx file beside a Megatron .bin: sequences, documents and the type of the tokens.
//
// Layout, little endian (github.com/NVIDIA/Megatron-LM, megatron/core/datasets/indexed_dataset.py):
// "MMIDIDX\0\0", uint64 version 1, uint8 type, uint64 sequences S, uint64 D, then S int32 lengths
// in tokens, S int64 byte offsets into the .bin, D int64 numbers of sequences at which documents
// begin, from 0 to S. Nothing is aligned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fourhold/engine/data/token_type.h"

namespace fourhold::engine::data {

inline constexpr std::string_view kMegatronMagic{"MMIDIDX\0\0", 9};
inline constexpr std::int64_t kMegatronHeaderBytes = 34;

// The number by which an index names a type; no value where it has none (uint32).
[[nodiscard]] std::optional<std::uint8_t> megatron_code(TokenType type);

// A checked view of an index: it keeps no copy, so a hundred million documents cost no heap.
class MegatronIndex {
 public:
  // Error with byte offset and reason unless header, size, lengths, offsets and documents agree.
  // Sequences must lie one after another, as Megatron writes them.
  MegatronIndex(std::string_view file, const std::string& where);

  [[nodiscard]] TokenType type() const { return type_; }
  [[nodiscard]] std::int64_t tokens() const { return tokens_; }
  [[nodiscard]] std::int64_t documents() const { return boundaries_ - 1; }
  // The first token of a document; document_start(documents()) is tokens().
  [[nodiscard]] std::int64_t document_start(std::int64_t document) const;

 private:
  [[nodiscard]] std::int64_t length(std::int64_t sequence) const;
  [[nodiscard]] std::int64_t pointer(std::int64_t sequence) const;
  [[nodiscard]] std::int64_t boundary(std::int64_t document) const;
  void read_counts(const std::string& where);
  void check_sequences(const std::string& where);
  void check_documents(const std::string& where) const;

  std::string_view file_;
  TokenType type_ = TokenType::uint16;
  std::int64_t sequences_ = 0;
  std::int64_t boundaries_ = 0;  // documents + 1
  std::int64_t tokens_ = 0;
};

}  // namespace fourhold::engine::data

#include "fourhold/engine/data/token_writer.h"

#include <cassert>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/megatron_index.h"

namespace fourhold::engine::data {
namespace {

constexpr std::int64_t kMostInt32 = std::numeric_limits<std::int32_t>::max();

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

const std::string& refuse_existing(const std::string& path) {
  std::error_code fault;
  if (std::filesystem::exists(path, fault)) {
    throw Error(path, "is there already", "remove it, or name another file");
  }
  return path;
}

std::string index_path(const std::string& bin_path) {
  assert(bin_path.size() > 4);
  return bin_path.substr(0, bin_path.size() - 4) + ".idx";
}

}  // namespace

TokenType stored_type(TokenFormat format, std::int64_t vocabulary) {
  const TokenType smallest = smallest_type(vocabulary);
  if (smallest == TokenType::uint16 || format == TokenFormat::llm_c) return smallest;
  if (format == TokenFormat::megatron) return TokenType::int32;
  throw Error("--format",
              fmt::format("nanoGPT files store uint16, which cannot hold a vocabulary of {}",
                          format_count(vocabulary)),
              fmt::format("uint16 holds up to {} ids; llm.c and Megatron files hold more",
                          format_count(info(TokenType::uint16).largest_vocabulary)));
}

TokenWriter::TokenWriter(const std::string& bin_path, TokenFormat format, std::int64_t vocabulary,
                         Masked masked)
    : format_(format), type_(stored_type(format, vocabulary)), bin_(refuse_existing(bin_path)) {
  assert(masked == Masked::no || format == TokenFormat::megatron);
  if (format == TokenFormat::megatron) index_.emplace(index_path(bin_path));
  if (masked == Masked::yes) mask_.emplace(mask_path(bin_path));
  if (format == TokenFormat::llm_c) bin_.write(std::string(kLlmCHeaderBytes, '\0'));
}

void TokenWriter::add(std::span<const TokenId> ids, bool learned) {
  store(ids);
  bin_.write(stored_);
  hash_.add(stored_);
  tokens_ += static_cast<std::int64_t>(ids.size());
  if (format_ == TokenFormat::llm_c && tokens_ > kMostInt32) {
    throw Error(bin_.path(),
                fmt::format("an llm.c file holds at most {} tokens", format_count(kMostInt32)),
                "write a Megatron data set, or split the text over several files");
  }
  if (mask_) {
    const std::string mask(ids.size(), learned ? '\1' : '\0');
    mask_->write(mask);
    mask_hash_.add(mask);
  }
}

void TokenWriter::store(std::span<const TokenId> ids) {
  stored_.clear();
  for (const TokenId id : ids) {
    assert(id >= 0 && id < info(type_).largest_vocabulary);
    if (info(type_).bytes == 2) {
      append(stored_, static_cast<std::uint16_t>(id));
    } else {
      append(stored_, static_cast<std::uint32_t>(id));  // int32 and uint32 are alike up to 2^31
    }
  }
}

void TokenWriter::end_document() {
  const std::int64_t tokens = tokens_ - document_begin_;
  document_begin_ = tokens_;
  ++lengths_;
  if (!index_) return;
  if (tokens > kMostInt32) {
    throw Error(bin_.path(),
                fmt::format("document {} has {} tokens; a Megatron index holds {} at most",
                            lengths_ - 1, format_count(tokens), format_count(kMostInt32)),
                "split the text into documents");
  }
  document_tokens_.push_back(static_cast<std::int32_t>(tokens));
}

void TokenWriter::write_header() {
  const bool narrow = type_ == TokenType::uint16;
  std::string header;
  append(header, narrow ? kLlmCMagicUint16 : kLlmCMagicUint32);
  append(header, narrow ? kLlmCVersionUint16 : kLlmCVersionUint32);
  append(header, static_cast<std::int32_t>(tokens_));
  bin_.write_at(0, header);
}

void TokenWriter::write_index() {
  std::string bytes(kMegatronMagic);
  append(bytes, std::uint64_t{1});
  append(bytes, megatron_code(type_).value());
  append(bytes, static_cast<std::uint64_t>(lengths_));
  append(bytes, static_cast<std::uint64_t>(lengths_ + 1));
  index_->write(bytes);
  const auto each = [this](auto&& write) {
    for (std::size_t i = 0; i < document_tokens_.size(); ++i) write(i);
  };
  const auto put = [this](auto value) {
    index_->write({reinterpret_cast<const char*>(&value), sizeof value});
  };
  each([&](std::size_t i) { put(document_tokens_[i]); });
  std::int64_t offset = 0;
  each([&](std::size_t i) {
    put(offset);
    offset += std::int64_t{document_tokens_[i]} * info(type_).bytes;
  });
  for (std::int64_t i = 0; i <= lengths_; ++i) put(i);  // each document is one sequence
}

TokenCard TokenWriter::finish(TokenCard card) {
  if (tokens_ > document_begin_) end_document();
  if (format_ == TokenFormat::llm_c) write_header();
  if (index_) write_index();
  card.tokens = tokens_;
  card.documents = lengths_;
  card.hash = hash_.text();
  card.mask_hash = mask_ ? std::optional<std::string>(mask_hash_.text()) : std::nullopt;

  StagedFile card_file(card_path(bin_.path()));
  card_file.write(json::write(to_json(card)) + "\n");
  card_file.sync();
  bin_.sync();
  for (std::optional<StagedFile>* beside : {&index_, &mask_}) {
    if (*beside) (*beside)->sync();
  }
  card_file.publish();
  for (std::optional<StagedFile>* beside : {&index_, &mask_}) {
    if (*beside) (*beside)->publish();
  }
  bin_.publish();
  return card;
}

}  // namespace fourhold::engine::data

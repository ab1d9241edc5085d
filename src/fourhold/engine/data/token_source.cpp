#include "fourhold/engine/data/token_source.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/content_hash.h"

namespace fourhold::engine::data {

TokenSource::TokenSource(std::vector<std::uint16_t> tokens,
                         std::vector<std::int64_t> document_starts, std::string tokenizer)
    : layout_{TokenFormat::memory, TokenType::uint16, 0, static_cast<std::int64_t>(tokens.size())},
      tokenizer_(std::move(tokenizer)),
      tokens_(std::move(tokens)),
      document_starts_(std::move(document_starts)),
      data_(reinterpret_cast<const char*>(tokens_.data())) {
  assert(std::is_sorted(document_starts_.begin(), document_starts_.end()));
}

TokenSource::TokenSource(MappedFile file, const TokenLayout& layout)
    : layout_(layout), file_(std::move(file)), data_(file_->text().data() + layout.first_byte) {}

std::string TokenSource::description() const {
  std::string text =
      fmt::format("{}, {}, {}", to_string(format()), info(type()).name, counted(count(), "token"));
  if (documents() > 0) text += " in " + counted(documents(), "document");
  return text;
}

std::int64_t TokenSource::documents() const {
  return index_ ? index_->documents() : static_cast<std::int64_t>(document_starts_.size());
}

std::int64_t TokenSource::document_start(std::int64_t document) const {
  if (index_) return index_->document_start(document);
  const auto at = static_cast<std::size_t>(document);
  return at == document_starts_.size() ? count() : document_starts_[at];
}

std::string TokenSource::fingerprint() const {
  const auto bytes = static_cast<std::size_t>(count() * info(type()).bytes);
  std::string text = hash_ ? *hash_ : content_hash({data_, bytes});
  // Without a mask documents do not part sequences.
  if (mask_) text += "+" + content_hash(mask_->text());
  if (mask_ && index_file_) text += "+" + content_hash(index_file_->text());
  return text;
}

void TokenSource::read(std::int64_t first, std::span<TokenId> ids) const {
  assert(first >= 0 && first + static_cast<std::int64_t>(ids.size()) <= count());
  load_ids(data_ + first * info(layout_.type).bytes, layout_.type, ids);
}

}  // namespace fourhold::engine::data

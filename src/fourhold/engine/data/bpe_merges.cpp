#include "fourhold/engine/data/bpe_merges.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace fourhold::engine::data {
namespace {

std::uint64_t pair_key(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U) |
         static_cast<std::uint32_t>(right);
}

}  // namespace

bool BpeMerges::add(TokenId left, TokenId right, std::int32_t rank, TokenId joined) {
  return merges_.emplace(pair_key(left, right), Merge{rank, joined}).second;
}

const BpeMerges::Merge* BpeMerges::find(TokenId left, TokenId right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

namespace {
constexpr auto kLater = [](const auto& a, const auto& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
};
}  // namespace

void BpeMerges::consider(std::int32_t left) {
  if (left < 0) return;
  const Symbol& symbol = symbols_[static_cast<std::size_t>(left)];
  if (symbol.next < 0) return;
  const Merge* merge = find(symbol.id, symbols_[static_cast<std::size_t>(symbol.next)].id);
  if (merge == nullptr) return;
  heap_.push_back({merge->rank, left});
  std::push_heap(heap_.begin(), heap_.end(), kLater);
}

void BpeMerges::apply(std::vector<TokenId>& word) {
  if (word.size() < 2) return;
  assert(word.size() < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
  const auto count = static_cast<std::int32_t>(word.size());
  symbols_.clear();
  heap_.clear();
  for (std::int32_t i = 0; i < count; ++i) {
    symbols_.push_back({word[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  }
  for (std::int32_t i = 0; i + 1 < count; ++i) consider(i);

  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), kLater);
    const Candidate candidate = heap_.back();
    heap_.pop_back();
    Symbol& left = symbols_[static_cast<std::size_t>(candidate.left)];
    if (left.id < 0 || left.next < 0) continue;
    Symbol& right = symbols_[static_cast<std::size_t>(left.next)];
    const Merge* merge = find(left.id, right.id);
    if (merge == nullptr || merge->rank != candidate.rank) continue;  // joined otherwise meanwhile
    left.id = merge->joined;
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) symbols_[static_cast<std::size_t>(left.next)].previous = candidate.left;
    consider(left.previous);
    consider(candidate.left);
  }

  word.clear();
  for (std::int32_t i = 0; i >= 0; i = symbols_[static_cast<std::size_t>(i)].next) {
    word.push_back(symbols_[static_cast<std::size_t>(i)].id);
  }
}

}  // namespace fourhold::engine::data

#include "fourhold/predict/caching_allocator.h"

#include <algorithm>

namespace fourhold::predict {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kLeastBlock = 512;
constexpr std::int64_t kMostSmall = kMiB;
constexpr std::int64_t kSmallSegment = 2 * kMiB;
constexpr std::int64_t kLargeSegment = 20 * kMiB;
constexpr std::int64_t kLeastOwnSegment = 10 * kMiB;
constexpr std::int64_t kSegmentMultiple = 2 * kMiB;

std::int64_t round_up(std::int64_t bytes, std::int64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

std::int64_t segment_size(std::int64_t size, bool small) {
  if (small) return kSmallSegment;
  return size < kLeastOwnSegment ? kLargeSegment : round_up(size, kSegmentMultiple);
}

}  // namespace

CachingAllocator::Block CachingAllocator::allocate(std::int64_t bytes) {
  const std::int64_t size = round_up(bytes, kLeastBlock);
  const bool small = size <= kMostSmall;
  Block block = take_cached(size, small);
  if (block == kNobody) block = reserve_segment(size, small);
  if (block == kNobody) {
    // The block that fits may be free now, but the allocator asks the device, not its cache.
    flush();
    block = reserve_segment(size, small);
  }
  if (block == kNobody) return kOutOfMemory;
  const std::int64_t rest = at(block).size - size;
  if (small ? rest >= kLeastBlock : rest > kMostSmall) split(block, size);
  at(block).use = Use::owned;
  allocated_ += at(block).size;
  allocated_peak_ = std::max(allocated_peak_, allocated_);
  return block;
}

void CachingAllocator::release(Block block) {
  disown(block, Use::free);
  make_free(block);
}

void CachingAllocator::release_deferred(Block block, std::int64_t launch) {
  disown(block, Use::pending);
  pending_.push_back({block, launch});
}

void CachingAllocator::complete_up_to(std::int64_t launch) {
  while (!pending_.empty() && pending_.front().launch <= launch) {
    make_free(pending_.front().block);
    pending_.pop_front();
  }
}

void CachingAllocator::complete() { complete_up_to(kUnlimited); }

CachingAllocator::Block CachingAllocator::piece(const Piece& piece) {
  if (spare_.empty()) {
    pieces_.push_back(piece);
    return static_cast<Block>(pieces_.size() - 1);
  }
  const Block block = spare_.back();
  spare_.pop_back();
  at(block) = piece;
  return block;
}

CachingAllocator::Block CachingAllocator::take_cached(std::int64_t size, bool small) {
  FreeBlocks& free = pool(small);
  const auto best = free.lower_bound({size, 0, 0});
  if (best == free.end()) return kNobody;
  const Block block = std::get<Block>(*best);
  free.erase(best);
  return block;
}

CachingAllocator::Block CachingAllocator::reserve_segment(std::int64_t size, bool small) {
  const std::int64_t segment = segment_size(size, small);
  if (segment > capacity_ - reserved_) return kNobody;
  reserved_ += segment;
  reserved_peak_ = std::max(reserved_peak_, reserved_);
  const Block block = piece({.address = next_address_, .size = segment, .small = small});
  next_address_ += segment;
  return block;
}

// The block keeps the lower part.
void CachingAllocator::split(Block block, std::int64_t size) {
  const Piece whole = at(block);
  const Block rest = piece({.address = whole.address + size,
                            .size = whole.size - size,
                            .before = block,
                            .after = whole.after,
                            .small = whole.small});
  if (whole.after != kNobody) at(whole.after).before = rest;
  at(block).after = rest;
  at(block).size = size;
  pool(whole.small).emplace(at(rest).size, at(rest).address, rest);
}

void CachingAllocator::disown(Block block, Use use) {
  allocated_ -= at(block).size;
  at(block).use = use;
}

void CachingAllocator::make_free(Block block) {
  at(block).use = Use::free;
  const Block after = at(block).after;
  if (after != kNobody && at(after).use == Use::free) {
    pool(at(after).small).erase({at(after).size, at(after).address, after});
    join(block, after);
  }
  Block whole = block;
  const Block before = at(block).before;
  if (before != kNobody && at(before).use == Use::free) {
    pool(at(before).small).erase({at(before).size, at(before).address, before});
    join(before, block);
    whole = before;
  }
  pool(at(whole).small).emplace(at(whole).size, at(whole).address, whole);
}

void CachingAllocator::join(Block block, Block after) {
  at(block).size += at(after).size;
  at(block).after = at(after).after;
  if (at(block).after != kNobody) at(at(block).after).before = block;
  spare_.push_back(after);
}

void CachingAllocator::flush() {
  ++flushes_;
  complete();
  flush_pool(false);
  flush_pool(true);
}

void CachingAllocator::flush_pool(bool small) {
  FreeBlocks& free = pool(small);
  for (auto it = free.begin(); it != free.end();) {
    const Block block = std::get<Block>(*it);
    if (at(block).before != kNobody || at(block).after != kNobody) {
      ++it;
      continue;
    }
    reserved_ -= at(block).size;
    spare_.push_back(block);
    it = free.erase(it);
  }
}

}  // namespace fourhold::predict

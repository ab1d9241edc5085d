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

// By which an expandable segment grows.
std::int64_t step_size(bool small) { return small ? kSmallSegment : kLargeSegment; }

}  // namespace

CachingAllocator::Block CachingAllocator::allocate(std::int64_t bytes, Stream stream) {
  const std::int64_t size = round_up(bytes, kLeastBlock);
  const auto pool =
      static_cast<std::uint8_t>(2 * static_cast<int>(stream) + (size <= kMostSmall ? 0 : 1));
  Block block = take_cached(size, pool);
  if (block == kNobody) block = reserve(size, pool);
  if (block == kNobody) {
    flush();
    // The block that fits may be free now, but of fixed segments the allocator asks the device, not
    // its cache.
    if (expandable_) block = take_cached(size, pool);
    if (block == kNobody) block = reserve(size, pool);
  }
  if (block == kNobody) return kOutOfMemory;
  const std::int64_t rest = at(block).size - size;
  if (is_small(pool) || expandable_ ? rest >= kLeastBlock : rest > kMostSmall) split(block, size);
  at(block).unmapped = 0;
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

void CachingAllocator::list(Block block) {
  pool_of(block).free.emplace(at(block).size, at(block).address, block);
}

void CachingAllocator::unlist(Block block) {
  pool_of(block).free.erase({at(block).size, at(block).address, block});
}

CachingAllocator::Block CachingAllocator::take_cached(std::int64_t size, std::uint8_t pool) {
  const FreeBlocks& free = pools_[pool].free;
  auto best = free.lower_bound({size, 0, 0});
  if (best == free.end()) return kNobody;
  const bool last = std::get<Block>(*best) == pools_[pool].last;
  if (const auto next = std::next(best); last && next != free.end()) best = next;
  const Block block = std::get<Block>(*best);
  if (!map_again(block, size)) return kNobody;
  unlist(block);
  return block;
}

CachingAllocator::Block CachingAllocator::reserve(std::int64_t size, std::uint8_t pool) {
  return expandable_ ? expand_segment(size, pool) : reserve_segment(size, pool);
}

bool CachingAllocator::take_from_device(std::int64_t bytes) {
  if (bytes > capacity_ - reserved_) return false;
  reserved_ += bytes;
  reserved_peak_ = std::max(reserved_peak_, reserved_);
  return true;
}

CachingAllocator::Block CachingAllocator::reserve_segment(std::int64_t size, std::uint8_t pool) {
  const std::int64_t segment = segment_size(size, is_small(pool));
  if (!take_from_device(segment)) return kNobody;
  const Block block = piece({.address = next_address_, .size = segment, .pool = pool});
  next_address_ += segment;
  return block;
}

// Grows the last block where it is free, or appends one.
CachingAllocator::Block CachingAllocator::expand_segment(std::int64_t size, std::uint8_t pool) {
  const Block last = pools_[pool].last;
  const bool grows = last != kNobody && at(last).use == Use::free;
  if (grows && !map_again(last, at(last).size)) return kNobody;
  const std::int64_t missing = size - (grows ? at(last).size : 0);
  const std::int64_t more = round_up(missing, step_size(is_small(pool)));
  if (!take_from_device(more)) return kNobody;
  if (grows) {
    unlist(last);
    at(last).size += more;
    return last;
  }
  const std::int64_t address = last == kNobody ? 0 : at(last).address + at(last).size;
  const Block block = piece({.address = address, .size = more, .before = last, .pool = pool});
  if (last != kNobody) at(last).after = block;
  pools_[pool].last = block;
  return block;
}

// As much of what a flush took from the block as a request of that size needs.
bool CachingAllocator::map_again(Block block, std::int64_t size) {
  Piece& whole = at(block);
  if (whole.unmapped == 0) return true;
  const std::int64_t again =
      std::min(whole.unmapped, round_up(size, step_size(is_small(whole.pool))));
  if (!take_from_device(again)) return false;
  whole.unmapped -= again;
  return true;
}

// The block keeps the lower part, and the rest what is not mapped of both.
void CachingAllocator::split(Block block, std::int64_t size) {
  const Piece whole = at(block);
  const Block rest = piece({.address = whole.address + size,
                            .size = whole.size - size,
                            .unmapped = whole.unmapped,
                            .before = block,
                            .after = whole.after,
                            .pool = whole.pool});
  if (whole.after != kNobody) at(whole.after).before = rest;
  at(block).after = rest;
  at(block).size = size;
  if (pools_[whole.pool].last == block) pools_[whole.pool].last = rest;
  list(rest);
}

void CachingAllocator::disown(Block block, Use use) {
  allocated_ -= at(block).size;
  at(block).use = use;
}

void CachingAllocator::make_free(Block block) {
  at(block).use = Use::free;
  const Block after = at(block).after;
  if (after != kNobody && at(after).use == Use::free) {
    unlist(after);
    join(block, after);
  }
  Block whole = block;
  const Block before = at(block).before;
  if (before != kNobody && at(before).use == Use::free) {
    unlist(before);
    join(before, block);
    whole = before;
  }
  list(whole);
}

void CachingAllocator::join(Block block, Block after) {
  at(block).size += at(after).size;
  at(block).unmapped += at(after).unmapped;
  at(block).after = at(after).after;
  if (at(block).after != kNobody) at(at(block).after).before = block;
  if (pool_of(block).last == after) pool_of(block).last = block;
  spare_.push_back(after);
}

void CachingAllocator::flush() {
  ++flushes_;
  complete();
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    if (expandable_) {
      unmap(pools_[i].free, is_small(static_cast<std::uint8_t>(i)));
    } else {
      drop_free_segments(pools_[i].free);
    }
  }
}

// Steps that lie wholly inside free blocks. Segments begin at a multiple of the step.
void CachingAllocator::unmap(FreeBlocks& free, bool small) {
  const std::int64_t step = step_size(small);
  for (const auto& [size, address, block] : free) {
    const std::int64_t first = round_up(address, step);
    const std::int64_t end = (address + size) / step * step;
    const std::int64_t whole = std::max<std::int64_t>(0, end - first);
    reserved_ -= whole - std::min(whole, at(block).unmapped);
    at(block).unmapped = std::max(whole, at(block).unmapped);
  }
}

void CachingAllocator::drop_free_segments(FreeBlocks& free) {
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

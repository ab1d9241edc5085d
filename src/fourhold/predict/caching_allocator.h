// PyTorch's CUDA caching allocator, block by block: how many bytes it reserves from the device for
// the blocks a program asks for.
//
// Rules as in pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h,
// with its defaults (no max_split_size, no garbage collection):
//  - sizes are rounded up to 512 bytes; requests up to 1 MiB come from the small pool, others from
//    the large one;
//  - the smallest free block of the pool that is large enough is taken, of equal ones that at the
//    lowest address; it is split where 512 bytes (small) or more than 1 MiB (large) remain;
//  - where none is, a segment is reserved: 2 MiB for a small request, 20 MiB for one below 10 MiB,
//    else the request rounded up to 2 MiB;
//  - a block that is released joins its free neighbours within its segment and stays reserved;
//  - where the device is full, pending releases are waited for, segments that are wholly free go
//    back to the device (a flush), and only then is the request out of memory;
//  - a stream's blocks serve that stream alone.
//
// With expandable segments (expandable_segments:True) a pool of a stream has one segment without an
// end. Its last free block counts as the largest of all, however short it is: it is taken last, and
// grown by what is missing, in steps of 2 MiB (small) or 20 MiB. Blocks are split from 512 bytes
// on, and a flush gives back every whole step inside a free block, to be mapped again when the
// block is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "fourhold/plan/profile.h"

namespace fourhold::predict {

// What a program puts on streams of their own.
enum class Stream : std::uint8_t { compute, gather, reduce };
inline constexpr std::size_t kStreams = 3;

class CachingAllocator {
 public:
  using Block = std::int32_t;
  static constexpr Block kOutOfMemory = -1;
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  explicit CachingAllocator(std::int64_t capacity_bytes = kUnlimited,
                            plan::Segments segments = plan::Segments::fixed)
      : capacity_(capacity_bytes), expandable_(segments == plan::Segments::expandable) {}

  // A block for that many bytes (at least 1), or kOutOfMemory, which changes nothing but the flush.
  [[nodiscard]] Block allocate(std::int64_t bytes, Stream stream = Stream::compute);
  void release(Block block);
  // Released by its owner while another stream still uses it (record_stream): nobody else gets it
  // before that work is done. `launch` numbers the work and never falls.
  void release_deferred(Block block, std::int64_t launch);
  // Work up to that launch is done; all work is.
  void complete_up_to(std::int64_t launch);
  void complete();

  // Sizes of the blocks that have owners: what max_memory_allocated counts.
  [[nodiscard]] std::int64_t allocated_bytes() const { return allocated_; }
  [[nodiscard]] std::int64_t allocated_peak_bytes() const { return allocated_peak_; }
  // Sizes of the segments: what max_memory_reserved counts.
  [[nodiscard]] std::int64_t reserved_bytes() const { return reserved_; }
  [[nodiscard]] std::int64_t reserved_peak_bytes() const { return reserved_peak_; }
  [[nodiscard]] std::int64_t flushes() const { return flushes_; }

  // Where a block lies. Segments are numbered upwards as they are reserved; where cudaMalloc really
  // puts them decides between blocks of equal size only.
  [[nodiscard]] std::int64_t address_of(Block block) const { return at(block).address; }
  [[nodiscard]] std::int64_t size_of(Block block) const { return at(block).size; }

 private:
  static constexpr Block kNobody = -1;
  enum class Use : std::uint8_t { free, owned, pending };
  struct Piece {
    std::int64_t address = 0;
    std::int64_t size = 0;
    std::int64_t unmapped = 0;  // of a free piece of an expandable segment: what a flush took
    Block before = kNobody;     // neighbours within the segment
    Block after = kNobody;
    std::uint8_t pool = 0;
    Use use = Use::free;
  };
  using FreeBlocks = std::set<std::tuple<std::int64_t, std::int64_t, Block>>;  // size, address
  // Requests of one stream and one class of size.
  struct Pool {
    FreeBlocks free;
    Block last = kNobody;  // of its expandable segment
  };

  [[nodiscard]] Piece& at(Block block) { return pieces_[static_cast<std::size_t>(block)]; }
  [[nodiscard]] const Piece& at(Block block) const {
    return pieces_[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] static bool is_small(std::uint8_t pool) { return pool % 2 == 0; }
  [[nodiscard]] Pool& pool_of(Block block) { return pools_[at(block).pool]; }
  [[nodiscard]] Block piece(const Piece& piece);
  [[nodiscard]] Block take_cached(std::int64_t size, std::uint8_t pool);
  [[nodiscard]] Block reserve(std::int64_t size, std::uint8_t pool);
  [[nodiscard]] Block reserve_segment(std::int64_t size, std::uint8_t pool);
  [[nodiscard]] Block expand_segment(std::int64_t size, std::uint8_t pool);
  [[nodiscard]] bool map_again(Block block, std::int64_t size);
  [[nodiscard]] bool take_from_device(std::int64_t bytes);
  void list(Block block);  // among the free blocks of its pool
  void unlist(Block block);
  void split(Block block, std::int64_t size);
  void disown(Block block, Use use);
  void make_free(Block block);
  void join(Block block, Block after);
  void flush();
  void unmap(FreeBlocks& free, bool small);
  void drop_free_segments(FreeBlocks& free);

  std::int64_t capacity_;
  bool expandable_;
  std::int64_t allocated_ = 0;
  std::int64_t allocated_peak_ = 0;
  std::int64_t reserved_ = 0;
  std::int64_t reserved_peak_ = 0;
  std::int64_t flushes_ = 0;
  std::int64_t next_address_ = 0;
  std::vector<Piece> pieces_;
  std::vector<Block> spare_;  // places in pieces_ that no block has
  struct Pending {
    Block block = kNobody;
    std::int64_t launch = 0;
  };
  std::deque<Pending> pending_;  // released, still used by another stream
  std::array<Pool, 2 * kStreams> pools_;
};

}  // namespace fourhold::predict

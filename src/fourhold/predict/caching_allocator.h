// PyTorch's CUDA caching allocator, block by block: how many bytes it reserves from the device for
// the blocks a program asks for.
//
// Rules as in pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h,
// with its defaults (no max_split_size, no expandable segments, no garbage collection), one stream:
//  - sizes are rounded up to 512 bytes; requests up to 1 MiB come from the small pool, others from
//    the large one;
//  - the smallest free block of the pool that is large enough is taken, of equal ones that at the
//    lowest address; it is split where 512 bytes (small) or more than 1 MiB (large) remain;
//  - where none is, a segment is reserved: 2 MiB for a small request, 20 MiB for one below 10 MiB,
//    else the request rounded up to 2 MiB;
//  - a block that is released joins its free neighbours within its segment and stays reserved;
//  - where the device is full, pending releases are waited for, segments that are wholly free go
//    back to the device (a flush), and only then is the request out of memory.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

namespace fourhold::predict {

class CachingAllocator {
 public:
  using Block = std::int32_t;
  static constexpr Block kOutOfMemory = -1;
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  explicit CachingAllocator(std::int64_t capacity_bytes = kUnlimited) : capacity_(capacity_bytes) {}

  // A block for that many bytes (at least 1), or kOutOfMemory, which changes nothing but the flush.
  [[nodiscard]] Block allocate(std::int64_t bytes);
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
    Block before = kNobody;  // neighbours within the segment
    Block after = kNobody;
    bool small = false;
    Use use = Use::free;
  };
  using FreeBlocks = std::set<std::tuple<std::int64_t, std::int64_t, Block>>;  // size, address

  [[nodiscard]] Piece& at(Block block) { return pieces_[static_cast<std::size_t>(block)]; }
  [[nodiscard]] const Piece& at(Block block) const {
    return pieces_[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] FreeBlocks& pool(bool small) { return small ? small_ : large_; }
  [[nodiscard]] Block piece(const Piece& piece);
  [[nodiscard]] Block take_cached(std::int64_t size, bool small);
  [[nodiscard]] Block reserve_segment(std::int64_t size, bool small);
  void split(Block block, std::int64_t size);
  void disown(Block block, Use use);
  void make_free(Block block);
  void join(Block block, Block after);
  void flush();
  void flush_pool(bool small);

  std::int64_t capacity_;
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
  FreeBlocks small_;
  FreeBlocks large_;
};

}  // namespace fourhold::predict

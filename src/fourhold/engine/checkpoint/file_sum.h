// Check sums of a file, block by block, so that a fault is found with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fourhold::engine {

// Each block but the last of a file has this many bytes.
inline constexpr std::int64_t kSumBlockBytes = 64LL << 20;

// What a file was when it was written.
struct FileSum {
  std::string name;  // beside the marker, without a folder
  std::int64_t bytes = 0;
  std::vector<std::uint64_t> blocks;  // XXH3, 64 bits (github.com/Cyan4973/xxHash), of each block
  friend bool operator==(const FileSum&, const FileSum&) = default;
};

// Sums bytes as they pass.
class BlockSums {
 public:
  BlockSums();
  ~BlockSums();
  BlockSums(const BlockSums&) = delete;
  BlockSums& operator=(const BlockSums&) = delete;

  void add(std::span<const std::byte> bytes);
  // The sums of all that was added; the object is spent.
  [[nodiscard]] std::vector<std::uint64_t> take();

 private:
  void end_block();

  struct State;
  std::unique_ptr<State> state_;
  std::int64_t in_block_ = 0;
  std::vector<std::uint64_t> blocks_;
};

// Error unless the file in `folder` has the size and the sums it was written with: which is
// missing, cut short, longer, or where the first changed block starts and ends.
void check_file_size(const std::string& folder, const FileSum& sum);
void check_file_contents(const std::string& folder, const FileSum& sum);

}  // namespace fourhold::engine

#include "fourhold/engine/checkpoint/file_sum.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <xxhash.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/files/mapped_file.h"

namespace fourhold::engine {

struct BlockSums::State {
  XXH3_state_t* xxh3 = XXH3_createState();
  State() { XXH3_64bits_reset(xxh3); }
  ~State() { XXH3_freeState(xxh3); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

BlockSums::BlockSums() : state_(std::make_unique<State>()) {}
BlockSums::~BlockSums() = default;

void BlockSums::end_block() {
  blocks_.push_back(XXH3_64bits_digest(state_->xxh3));
  XXH3_64bits_reset(state_->xxh3);
  in_block_ = 0;
}

void BlockSums::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto room = static_cast<std::size_t>(kSumBlockBytes - in_block_);
    const std::span<const std::byte> piece = bytes.first(std::min(room, bytes.size()));
    XXH3_64bits_update(state_->xxh3, piece.data(), piece.size());
    in_block_ += static_cast<std::int64_t>(piece.size());
    if (in_block_ == kSumBlockBytes) end_block();
    bytes = bytes.subspan(piece.size());
  }
}

std::vector<std::uint64_t> BlockSums::take() {
  if (in_block_ > 0) end_block();
  return std::move(blocks_);
}

void check_file_size(const std::string& folder, const FileSum& sum) {
  const std::filesystem::path path = std::filesystem::path(folder) / sum.name;
  std::error_code fault;
  const std::uintmax_t size = std::filesystem::file_size(path, fault);
  if (fault) {
    throw Error(path.string(), "is missing or cannot be read",
                "the checkpoint is not whole: use an older one");
  }
  if (static_cast<std::int64_t>(size) == sum.bytes) return;
  throw Error(path.string(),
              fmt::format("byte {}: {}; the file was saved with {} bytes and has {}",
                          std::min(static_cast<std::int64_t>(size), sum.bytes),
                          static_cast<std::int64_t>(size) < sum.bytes ? "it is cut short here"
                                                                      : "it should end here",
                          sum.bytes, size),
              "the checkpoint is not whole: use an older one");
}

void check_file_contents(const std::string& folder, const FileSum& sum) {
  check_file_size(folder, sum);
  const std::string path = (std::filesystem::path(folder) / sum.name).string();
  const MappedFile file(path);
  std::int64_t begin = 0;
  for (const std::uint64_t saved : sum.blocks) {
    const std::int64_t end = std::min(begin + kSumBlockBytes, file.bytes());
    const std::span<const std::byte> block = file.piece(begin, end);
    if (XXH3_64bits(block.data(), block.size()) != saved) {
      throw Error(path,
                  fmt::format("byte {}: the {} bytes from here are not those that were saved",
                              begin, end - begin),
                  "the file was changed or the disk is failing: use an older checkpoint");
    }
    begin = end;
  }
}

}  // namespace fourhold::engine

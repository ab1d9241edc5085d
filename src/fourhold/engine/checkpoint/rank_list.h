// What one rank tells rank 0 when it has written its part of a checkpoint: a small file beside the
// others, which goes when the marker comes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/checkpoint/file_sum.h"
#include "fourhold/engine/checkpoint/shared_weights.h"
#include "fourhold/engine/checkpoint/state_files.h"

namespace fourhold::engine {

struct RankList {
  std::int64_t step = 0;
  std::string token;                // of the folder (save_lock.h)
  std::vector<FileSum> files;       // of its own
  std::vector<SharedShare> shared;  // of those that all ranks write
};

// "files-00001-of-00004.json".
[[nodiscard]] std::string rank_list_name(RankOf who);

[[nodiscard]] std::string write_rank_list(const RankList& list);
// Error naming line or field for anything else.
[[nodiscard]] RankList parse_rank_list(std::string_view text, const std::string& where);

}  // namespace fourhold::engine

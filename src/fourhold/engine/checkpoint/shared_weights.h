// Writes a model's published files from several ranks at once, without any of them ever holding the
// model: each puts what it owns at its place.
//
// A part of rows is a few large writes. Columns of ranks beside each other interleave within every
// row, so that such a part costs one write a row; GPT-2's transposed tensors turn the two round.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fourhold/engine/checkpoint/file_sum.h"
#include "fourhold/engine/checkpoint/published_layout.h"
#include "fourhold/engine/checkpoint/shared_file.h"
#include "fourhold/engine/checkpoint/state_files.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/model/names.h"
#include "fourhold/plan/parameter_part.h"

namespace fourhold::engine {

// Weights that a rank writes; of any type that converts to the layout's.
struct OwnedWeight {
  model::ParameterId id;
  plan::ParameterPart part;
  Tensor data;  // the part's elements; what stands behind them is padding
};

// What one rank has done of a file that all of them write.
struct SharedShare {
  FileSum sum;  // 0 for blocks that other ranks sum
  WrittenBytes written;
};

// Rank 0: all files at their full size with their headers, config.json and the index; the sums of
// the latter two.
[[nodiscard]] std::vector<FileSum> create_published(const std::string& folder,
                                                    const PublishedLayout& layout);

// Each rank, when rank 0 has created the files: what it owns is on the disk. Every element of the
// model must be written by one rank. Returns what it has written, by file. Memory: one window.
[[nodiscard]] std::vector<WrittenBytes> write_owned(const std::string& folder,
                                                    const PublishedLayout& layout,
                                                    std::span<const OwnedWeight> weights);

// Each rank, when all have written: sums of its blocks, which are dealt round over the ranks.
[[nodiscard]] std::vector<FileSum> sum_own_blocks(const std::string& folder,
                                                  const PublishedLayout& layout, RankOf who);

// The files' sums from the shares of all ranks, by rank. Error where they do not add up to the
// weights of the model: something was written by no rank, or twice.
[[nodiscard]] std::vector<FileSum> join_shares(const std::string& folder,
                                               const PublishedLayout& layout,
                                               std::span<const std::vector<SharedShare>> shares);

}  // namespace fourhold::engine

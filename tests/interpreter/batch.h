// The data of one step, the same for every split of the run, and which of its tokens a rank holds.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/model/operations.h"
#include "fourhold/plan/mesh.h"

namespace fourhold::interpreter {

// Random sequences. Targets are the next tokens; some are masked (-1), unevenly: most of the first
// sequence, few of the others.
struct Batch {
  std::int64_t seq = 0;
  std::vector<std::vector<std::int64_t>> tokens;   // [global batch][seq]
  std::vector<std::vector<std::int64_t>> targets;  // [global batch][seq]
  std::int64_t valid = 0;                          // targets that are not masked
};
[[nodiscard]] Batch make_batch(std::int64_t global_batch, std::int64_t seq, std::int64_t vocab);

struct TokenPlace {
  std::int64_t sequence = 0;  // of the global batch
  std::int64_t position = 0;
};

// The tokens of one micro-batch that a rank holds, in its order. Data-parallel replica r has the
// sequences from r x micro_batch x grad_accum on. Context rank i holds chunks i and 2 cp - 1 - i of
// each sequence. In the stream, sequence parallelism splits those tokens once more over tp.
[[nodiscard]] std::vector<TokenPlace> token_places(const plan::Plan& plan,
                                                   const plan::Coordinates& at,
                                                   std::int64_t micro_batch, model::Region region);

}  // namespace fourhold::interpreter

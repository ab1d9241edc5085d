// A table that both ends of a model use: where its weight and its gradient are held once, and where
// its two ends are on different ranks.
#pragma once

#include "fourhold/plan/program.h"

namespace fourhold::plan {

// Whether the head uses the embedding's weight.
[[nodiscard]] bool ties_embedding(const ProgramBlocks& blocks);

// The token table at either end: the embedding's parameter, or the head's use of it.
[[nodiscard]] bool is_token_table(const LocalParameter& parameter);
// The embedding's own parameter among these.
[[nodiscard]] bool is_embedding_table(const LocalParameter& parameter);

// Whether every rank holds both ends of a tied table, and so holds it once: where there is one
// stage. The first of several stages has the embedding, the last the head.
[[nodiscard]] bool holds_both_ends(const Plan& plan, const ProgramBlocks& blocks);

// Whether this stage holds one end of a tied table whose other end is on another: each then has the
// whole table, and their gradients are summed.
[[nodiscard]] bool holds_one_end(const Program& program, const ProgramBlocks& blocks);

}  // namespace fourhold::plan

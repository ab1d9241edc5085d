#include "fourhold/plan/tied_embedding.h"

#include <algorithm>

namespace fourhold::plan {

bool ties_embedding(const ProgramBlocks& blocks) {
  const auto& head = blocks.blocks[static_cast<std::size_t>(blocks.head)].sharded.parameters;
  return std::any_of(head.begin(), head.end(),
                     [](const LocalParameter& parameter) { return parameter.use.of_embedding; });
}

bool is_token_table(const LocalParameter& parameter) {
  return parameter.use.parameter.name == model::TensorName::token_embedding;
}

bool is_embedding_table(const LocalParameter& parameter) {
  return is_token_table(parameter) && !parameter.use.of_embedding;
}

bool holds_both_ends(const Plan& plan, const ProgramBlocks& blocks) {
  return plan.pp == 1 && ties_embedding(blocks);
}

bool holds_one_end(const Program& program, const ProgramBlocks& blocks) {
  return program.plan.pp > 1 && ties_embedding(blocks) &&
         std::any_of(program.chunks.begin(), program.chunks.end(),
                     [](const Chunk& chunk) { return chunk.embedding || chunk.head; });
}

}  // namespace fourhold::plan

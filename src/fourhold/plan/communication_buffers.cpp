#include "fourhold/plan/communication_buffers.h"

#include <algorithm>

#include "fourhold/plan/exchange_buffer.h"
#include "fourhold/plan/expand.h"
#include "fourhold/plan/tied_embedding.h"

namespace fourhold::plan {
namespace {

const ProgramBlock& block_of(const ProgramBlocks& blocks, std::int16_t index) {
  return blocks.blocks[static_cast<std::size_t>(index)];
}

std::int64_t largest_sum(const Program& program, const ProgramBlocks& blocks) {
  const Plan& plan = program.plan;
  const std::int64_t tied = holds_one_end(program, blocks) ? 2 : 1;
  return std::max({plan.tp, plan.dp * plan.cp, tied});
}

CommunicationBuffer sent(std::string_view name, const ProgramBlock& block, std::int16_t tensor) {
  const ProgramTensor& leaving = block.tensors[static_cast<std::size_t>(tensor)];
  return {name, leaving.dtype, leaving.shape.elements()};
}

// Chunks of a stage send tensors of one size: the stream between two blocks.
void add_sends(const Program& program, const ProgramBlocks& blocks,
               std::vector<CommunicationBuffer>& buffers) {
  const auto sender = [&](bool Chunk::*end) {
    return std::find_if(program.chunks.begin(), program.chunks.end(),
                        [end](const Chunk& chunk) { return !(chunk.*end); });
  };
  if (const auto chunk = sender(&Chunk::head); chunk != program.chunks.end()) {
    const ProgramBlock& last = block_of(blocks, block_instances(*chunk, blocks).back().block);
    buffers.push_back(sent(kActivationSend, last, last.output));
  }
  if (const auto chunk = sender(&Chunk::embedding); chunk != program.chunks.end()) {
    const ProgramBlock& first = block_of(blocks, block_instances(*chunk, blocks).front().block);
    buffers.push_back(sent(kGradientSend, first, first.input_gradient));
  }
}

}  // namespace

std::vector<CommunicationBuffer> communication_buffers(const Program& program,
                                                       const ProgramBlocks& blocks) {
  std::vector<CommunicationBuffer> buffers;
  const std::int64_t exchange = exchange_buffer_bytes(largest_sum(program, blocks));
  if (exchange > 0) buffers.push_back({kExchangeBuffer, DType::uint8, exchange});
  add_sends(program, blocks, buffers);
  return buffers;
}

}  // namespace fourhold::plan

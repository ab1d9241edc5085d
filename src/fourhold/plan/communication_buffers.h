// What the engine's ranks hold to exchange tensors, beside the tensors: the written rule that the
// ledger books and the engine is given.
#pragma once

#include <string_view>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/plan/program.h"

namespace fourhold::plan {

// Alive for the whole step, one of each.
struct CommunicationBuffer {
  std::string_view name;
  DType dtype = DType::uint8;
  std::int64_t elements = 0;
};

inline constexpr std::string_view kExchangeBuffer = "exchange_buffer";
inline constexpr std::string_view kActivationSend = "activation_send";
inline constexpr std::string_view kGradientSend = "gradient_send";

// Of one stage of a train_step program:
//   exchange_buffer  where other ranks' addends arrive (exchange_buffer.h), for the largest group
//                    in which the stage sums;
//   activation_send  what a chunk leaves to the next stage, while it is under way: the tensor
//   itself
//                    is gone by then. Without it two stages that send to each other would both
//                    wait;
//   gradient_send    the same towards the stage before.
// None on a stage that neither sums nor sends.
[[nodiscard]] std::vector<CommunicationBuffer> communication_buffers(const Program& program,
                                                                     const ProgramBlocks& blocks);

}  // namespace fourhold::plan

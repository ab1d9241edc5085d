// What a block's parameters cost on one rank: weights, gradients, master copy and optimizer state,
// each whole or as the rank's ZeRO slice, on the device or on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/base/inline_vector.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/plan/program.h"

namespace fourhold::predict {

// One resident tensor of a parameter.
struct ResidentTensor {
  ledger::Role role = ledger::Role::value;
  ledger::Category category = ledger::Category::weight;
  ledger::Place place = ledger::Place::device;
  DType dtype = DType::bf16;
  std::int64_t elements = 0;  // of this rank: the largest slice where sharded
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(elements, dtype); }
};

struct ParameterState {
  InlineVector<ResidentTensor, 7> resident;  // everything but the gradient
  ResidentTensor gradient;                   // elements 0 if frozen
  std::int64_t owned_elements = 0;           // that this rank updates and saves; 0 if frozen
  std::int64_t gathered_bytes = 0;           // whole, in the form in which it is used
  DType gathered_dtype = DType::bf16;
  std::int64_t block_gradient_bytes = 0;  // whole, before it is reduced to its owners
  DType block_gradient_dtype = DType::bf16;
  bool elsewhere = false;  // a tied head on the stage of its embedding: only the gradient is booked
                           // here, because backward writes it here first
};

struct BlockState {
  std::vector<ParameterState> parameters;  // one per parameter of the block
  std::int64_t resident_bytes = 0;         // device bytes, without gradients
  std::int64_t gradient_bytes = 0;         // device bytes of accumulators
  std::int64_t gathered_bytes = 0;
  std::int64_t block_gradient_bytes = 0;
  std::int64_t host_bytes = 0;
};

// Whether this stage holds both ends of a tied embedding, as one tensor.
enum class TiedCopy : std::uint8_t { shares_embedding, own_copy };
[[nodiscard]] TiedCopy tied_copy(const plan::Plan& plan, const plan::ProgramBlocks& blocks);

// ZeRO (arXiv 1910.02054, sec. 5): stage 1 splits master and moments over the group of n = dp x cp
// (experts: dp x cp / ep), 2 gradients too, 3 weights too. The first rank of a group holds the
// largest slice, ceil(elements / n) of each tensor; that is what is counted.
[[nodiscard]] BlockState block_state(const plan::ProgramBlock& block, const plan::Program& program,
                                     TiedCopy tied);

}  // namespace fourhold::predict

// What implementations of the same mathematics do differently: every field changes which tensors an
// operation list holds. Profiles set these; the operations read nothing else of a profile.
#pragma once

#include <cstdint>

#include "fourhold/base/dtype.h"
#include "fourhold/model/adapters.h"

namespace fourhold::model {

enum class AttentionSaving : std::uint8_t {
  flash,         // q, k, v, output, log-sum-exp
  flash_merged,  // as flash, and the output once more in the layout the projection reads (a batch-
                 // first kernel between sequence-first tensors)
  unfused,       // softmax result and dropout mask in 16 bits (Korthikanti 2022, sec. 4.1)
  unfused_wide,  // softmax in fp32 and its 16-bit cast (eager PyTorch)
};

[[nodiscard]] constexpr bool is_fused(AttentionSaving attention) {
  return attention == AttentionSaving::flash || attention == AttentionSaving::flash_merged;
}

enum class NormSaving : std::uint8_t {
  input,  // input and statistics
  wide,   // fp32 copy, statistics and the normalised 16-bit tensor (norm written in Python)
};

enum class ActivationSaving : std::uint8_t {
  fused,    // gate and up (or the input); act(gate) is recomputed inside the kernel
  unfused,  // act(gate) is a tensor of its own
};

enum class LossSaving : std::uint8_t {
  in_place,        // fused, on the 16-bit logits: 2 bytes per logit
  vocab_parallel,  // fp32 copy, softmax and gradient in place: 6 bytes at the cast
  wide,            // fp32 copy, fp32 softmax kept, fp32 gradient: 8 bytes in backward
  eager,           // as wide, and a dense gradient of the log-softmax: 12 bytes in backward
  eager_parallel,  // as eager, of logits split over tp: exp, sum and product of all three are
                   // tensors too: 16 bytes in backward
  eager_held,      // as eager, and the 16-bit logits stay referenced: 14 bytes
  eager_gathered,  // as eager_held, of logits that every rank of tp gathers whole, beside the
                   // 16-bit ones of the micro-batch before, kept in a buffer: 16 bytes, not divided
                   // by tp
  compiled,     // the 16-bit logits are kept; backward makes an fp32 copy and the 16-bit gradient:
                // 8 bytes
  held_chunks,  // loss in chunks of kHeldChunk positions, but fp32 logits and log-softmax of all
                // are held: 8 bytes in backward, and 8 more of one chunk (litgpt)
};
inline constexpr std::int64_t kHeldChunk = 128;

// Whether what a collective brought together is kept for backward, or brought together again.
enum class Gathered : std::uint8_t { again, kept };

// Whether q, k and v are parts of one tensor, all of which stays while one of them does.
enum class FusedQkv : std::uint8_t {
  separate,  // they are not
  views,     // v stays in it; rotated q and k are tensors of their own beside it
  query      // q is rotated in it and stays; k and v are copied out. Where keys have fewer heads
             // than queries, the three are copied apart: as separate
};

enum class ExpertScaling : std::uint8_t {
  after_experts,     // routing weights multiply the expert's output, which is kept
  inside_activation  // they multiply the activation; the output is not kept
};

enum class DropoutMasks : std::uint8_t { from_config, none };

struct Switches {
  DType compute = DType::bf16;  // activations and arithmetic
  DType index = DType::int32;   // token ids, targets, routing indices
  AttentionSaving attention = AttentionSaving::flash;
  NormSaving norm = NormSaving::input;
  ActivationSaving activation = ActivationSaving::fused;
  LossSaving loss = LossSaving::wide;
  ExpertScaling expert_scaling = ExpertScaling::after_experts;
  bool keep_permuted_rows = true;  // experts: rows before the exchange are kept beside those after
  bool keep_router_logits =
      false;  // experts: 4 T E bytes that the softmax's backward does not read
  // What the last linear of a feed-forward makes is kept for backward, which does not read it (a
  // selective checkpoint of eager PyTorch keeps all that its policy names).
  bool keep_down_product = false;
  DropoutMasks dropout = DropoutMasks::from_config;
  double routed_imbalance = 1.0;  // rows of the fullest rank / mean rows
  std::int64_t loss_chunk = 0;    // tokens per chunk of head and loss, 0 = whole
  FusedQkv fused_qkv = FusedQkv::separate;
  std::int64_t prediction_layers = 0;          // of multi-token prediction, 0 = none
  Gathered gathered_inputs = Gathered::again;  // of dense linears, under sequence parallelism

  // Adapters: what the plan asks for, and how the framework does it.
  Adapters adapters = Adapters::none;
  std::int64_t lora_rank = 0;
  AdapterTargets lora_targets = AdapterTargets::all();
  bool lora_dropout = false;
  TrainedModules trained_modules = TrainedModules::none;
  FrozenCast frozen_cast = FrozenCast::none;
  bool quantised_base = false;
  AdapterInput adapter_input = AdapterInput::shared;
  PackedAdapters packed_adapters = PackedAdapters::separate;
  QuantisedInput quantised_input = QuantisedInput::dropped;
  TrainedCopies trained_copies = TrainedCopies::replace;
};

}  // namespace fourhold::model

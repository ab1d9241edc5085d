#include "fourhold/plan/engine_scratch.h"

#include <algorithm>
#include <vector>

#include "fourhold/plan/attention_scratch.h"
#include "fourhold/plan/kernel_scratch.h"
#include "fourhold/plan/ring_scratch.h"
#include "fourhold/plan/split_loss_scratch.h"

namespace fourhold::plan {
namespace {

// Bytes of one operation's kernels.
struct Scratch {
  std::int64_t forward = 0;
  std::int64_t backward = 0;

  void cover(const Scratch& other) {
    forward = std::max(forward, other.forward);
    backward = std::max(backward, other.backward);
  }
};

// The rules under one instruction set.
class ScratchRule {
 public:
  ScratchRule(const Plan& plan, Isa isa) : plan_(plan), isa_(isa) {}

  [[nodiscard]] Scratch of(const model::BlockOperations& operations,
                           const model::Operation& operation) const {
    const auto tensor = [&](model::TensorId id) -> const model::Tensor& {
      return operations.tensors[static_cast<std::size_t>(id)];
    };
    switch (operation.kind) {
      case model::OpKind::linear:
        return linear(tensor(operation.inputs[0]), tensor(operation.outputs[0]));
      case model::OpKind::cross_entropy:
        return {split_loss_scratch_bytes(plan_.tp, tensor(operation.inputs[0]).shape[0].size), 0};
      case model::OpKind::chunked_loss:
        return {
            chunked_loss(operation, tensor(operation.inputs[0])) +
                split_loss_scratch_bytes(plan_.tp, operation.forward_transients[0].shape[0].size),
            0};
      case model::OpKind::attention:
        return attention(operations, operation);
      default:
        return {};
    }
  }

 private:
  [[nodiscard]] std::int64_t product(GemmForm form, const GemmSizes& sizes, DType operands) const {
    return gemm_scratch_bytes(form, sizes, operands, static_cast<int>(plan_.threads), isa_);
  }

  [[nodiscard]] Scratch linear(const model::Tensor& x, const model::Tensor& y) const {
    const std::int64_t rows = x.shape[0].size;
    const GemmSizes sizes{rows, y.shape.elements() / rows, x.shape.elements() / rows};
    return {product(GemmForm::forward, sizes, x.dtype),
            std::max(product(GemmForm::backward_data, sizes, x.dtype),
                     product(GemmForm::backward_weight, sizes, x.dtype))};
  }

  // All three products of a whole chunk and of what is left over.
  [[nodiscard]] std::int64_t chunked_loss(const model::Operation& operation,
                                          const model::Tensor& x) const {
    const model::Shape& logits = operation.forward_transients[0].shape;
    const std::int64_t rows = x.shape[0].size;
    const std::int64_t chunk = logits[0].size;
    std::int64_t most = 0;
    for (const std::int64_t count : {chunk, rows % chunk}) {
      if (count == 0) continue;
      const GemmSizes sizes{count, logits[1].size, x.shape.elements() / rows};
      for (const GemmForm form :
           {GemmForm::forward, GemmForm::backward_data, GemmForm::backward_weight}) {
        most = std::max(most, product(form, sizes, x.dtype));
      }
    }
    return most;
  }

  [[nodiscard]] Scratch attention(const model::BlockOperations& operations,
                                  const model::Operation& operation) const {
    const auto input = [&](int k) -> const model::Tensor& {
      return operations.tensors[static_cast<std::size_t>(operation.inputs[k])];
    };
    const model::Shape& q = input(0).shape;
    const std::int64_t head_dim = q[q.rank() - 1].size;
    if (plan_.cp == 1) {
      return {attention_forward_scratch_bytes(head_dim, plan_.threads),
              attention_backward_scratch_bytes(plan_.seq, head_dim, plan_.threads)};
    }
    const RingSizes sizes{
        .members = plan_.cp,
        .queries = {.sequences = plan_.micro_batch,
                    .heads = q[1].size,
                    .pieces = 2,
                    .piece_tokens = plan_.seq / (2 * plan_.cp),
                    .head_dim = head_dim},
        .key_value_elements = input(1).shape.elements() + input(2).shape.elements(),
        .dtype = input(1).dtype,
        .threads = plan_.threads};
    return {RingForwardScratch(sizes).bytes, RingBackwardScratch(sizes).bytes};
  }

  const Plan& plan_;
  Isa isa_;
};

std::vector<Isa> possible_isas(const Plan& plan) {
  std::vector<Isa> possible;
  for (int i = 0; i < kIsaCount; ++i) {
    const auto isa = static_cast<Isa>(i);
    if (plan.isa == "auto" || plan.isa == to_string(isa)) possible.push_back(isa);
  }
  return possible;
}

template <class List>
void add_bytes(List& transients, std::int64_t bytes) {
  if (bytes == 0) return;
  transients.push_back({model::TensorName::kernel_scratch,
                        {{model::Dim::other, bytes}},
                        DType::uint8,
                        model::Region::inner});
}

// The engine's softmax of a chunk reads fp32 logits, whether or not the loss is one in place.
void widen_chunks(model::Operation& operation) {
  if (operation.kind != model::OpKind::chunked_loss) return;
  const model::Transient logits = operation.forward_transients[0];
  const bool is_wide = operation.forward_transients.size() > 1 || logits.dtype == DType::fp32;
  if (is_wide) return;
  operation.forward_transients.push_back(
      {model::TensorName::logits_wide, logits.shape, DType::fp32, logits.region});
}

}  // namespace

void add_sample_scratch(ShardedBlock& block, const Plan& plan) {
  const std::vector<Isa> isas = possible_isas(plan);
  for (model::Operation& operation : block.operations.operations) {
    std::int64_t bytes = 0;
    if (operation.kind == model::OpKind::attention) {
      const model::Shape& q =
          block.operations.tensors[static_cast<std::size_t>(operation.inputs[0])].shape;
      bytes = cached_attention_scratch_bytes(q[q.rank() - 1].size, plan.threads);
    } else {
      for (const Isa isa : isas) {
        bytes = std::max(bytes, ScratchRule(plan, isa).of(block.operations, operation).forward);
      }
    }
    add_bytes(operation.forward_transients, bytes);
  }
}

void add_kernel_scratch(ShardedBlock& block, const Plan& plan) {
  const std::vector<Isa> isas = possible_isas(plan);
  for (model::Operation& operation : block.operations.operations) {
    widen_chunks(operation);
    Scratch scratch;
    for (const Isa isa : isas) {
      scratch.cover(ScratchRule(plan, isa).of(block.operations, operation));
    }
    add_bytes(operation.forward_transients, scratch.forward);
    add_bytes(operation.backward_transients, scratch.backward);
  }
}

}  // namespace fourhold::plan

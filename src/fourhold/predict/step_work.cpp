#include "fourhold/predict/step_work.h"

#include <algorithm>
#include <cstddef>

#include "fourhold/predict/host_operations.h"

namespace fourhold::predict {
namespace {

using model::Operation;
using model::OpKind;
using plan::Access;
using plan::AccessMode;
using plan::Phase;

constexpr double kAttentionBlock = 128;  // keys a fused kernel visits at once
// A norm written in Python moves each element as bf16 and fp32 in turn, operation by operation:
// casts, square, mean, two products, forward; twice that backward.
constexpr double kEagerNormBytes = 34;
constexpr double kChunkedLogitMoves = 4;  // softmax and gradient, written and read

class WorkOfStep {
 public:
  WorkOfStep(const plan::ProgramBlock& block, const plan::Step& step,
             const model::BatchSizes& sizes)
      : block_(block), step_(step), sizes_(sizes) {}

  StepWork run() {
    work_.kernels = 1;
    work_.host_operations = host_operations(op(), step_);
    switch (op().kind) {
      case OpKind::enter_branch:
      case OpKind::leave_branch:
      case OpKind::exchange_experts:
        work_.kernels = 0;
        break;
      case OpKind::linear:
        linear();
        break;
      case OpKind::attention:
        fused_attention();
        break;
      case OpKind::attention_scores:
        scores(size(op().outputs[0]), op().inputs[0]);
        break;
      case OpKind::attention_values:
        scores(size(op().inputs[0]), op().inputs[1]);
        break;
      case OpKind::chunked_loss:
        chunked_loss();
        break;
      default:
        elementwise();
    }
    return work_;
  }

 private:
  [[nodiscard]] const Operation& op() const {
    return block_.sharded.operations.operations[static_cast<std::size_t>(step_.operation)];
  }
  [[nodiscard]] const plan::ProgramTensor& at(std::int16_t id) const {
    return block_.tensors[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] double size(std::int16_t id) const {
    return static_cast<double>(at(id).shape.elements());
  }
  [[nodiscard]] double bytes(std::int16_t id) const {
    return static_cast<double>(bytes_of(at(id).shape.elements(), moved_dtype(id)));
  }
  // What is kept in fp8 is made in 16 bits: quantising it is priced by itself (see Rates).
  [[nodiscard]] DType moved_dtype(std::int16_t id) const {
    return at(id).dtype == DType::fp8 ? DType::bf16 : at(id).dtype;
  }
  [[nodiscard]] const plan::LocalParameter& parameter(std::int16_t id) const {
    return block_.sharded.parameters[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] bool forward() const { return step_.phase != Phase::backward; }

  // Bytes of the operands. `accumulated` is how often a tensor that is added to moves.
  [[nodiscard]] double operand_bytes(double accumulated) const {
    double sum = 0;
    for (const Access& access : step_.accesses) {
      sum += bytes(access.tensor) * (access.mode == AccessMode::accumulate ? accumulated : 1);
    }
    return sum;
  }
  // Parameters are read in the compute type; their gradients are written in it.
  [[nodiscard]] double parameter_bytes() const {
    const DType dtype = moved_dtype(op().outputs[0]);
    std::int64_t elements = 0;
    for (const std::int16_t id : step_.reads_parameters) elements += parameter(id).elements();
    for (const std::int16_t id : step_.writes_gradients) elements += parameter(id).elements();
    return static_cast<double>(bytes_of(elements, dtype));
  }

  // Products of this step with its weight: one forward; backward one for each gradient it makes.
  [[nodiscard]] double weight_products() const {
    if (forward()) return 1;
    double products = step_.writes_gradients.contains(op().parameters[0]) ? 1 : 0;
    for (const Access& access : step_.accesses) {
      if (access.mode != AccessMode::read) return products + 1;
    }
    return products;
  }

  // Elements of the matrix one row meets: of one expert where there are several.
  [[nodiscard]] double matrix_elements() const {
    double elements = 1;
    for (const model::Extent& extent : parameter(op().parameters[0]).shape) {
      if (extent.dim != model::Dim::experts) elements *= static_cast<double>(extent.size);
    }
    return elements;
  }

  // Whether another linear before this one in the list runs in the same product.
  [[nodiscard]] bool packed_behind_another() const {
    if (op().packed == model::PackedGroup::none || step_.operation == 0) return false;
    const Operation& before =
        block_.sharded.operations.operations[static_cast<std::size_t>(step_.operation) - 1];
    return before.kind == OpKind::linear && before.packed == op().packed &&
           before.inputs[0] == op().inputs[0];
  }

  void linear() {
    const auto rows = static_cast<double>(at(op().outputs[0]).shape[0].size);
    const double products = weight_products();
    work_.matmul_flops = 2 * rows * matrix_elements() * products;
    work_.model_flops = work_.matmul_flops;
    work_.memory_bytes = operand_bytes(1) + parameter_bytes();
    work_.kernels = static_cast<int>(products);
    work_.layer_product = op().of_layer;
    // Forward its input, once for a packed group; backward its output's gradient: the input is kept
    // as it was quantised.
    const bool adapter = parameter(op().parameters[0]).use.variant != model::Variant::plain;
    if (work_.layer_product && !adapter && (!forward() || !packed_behind_another())) {
      work_.quantised_elements = size(forward() ? op().inputs[0] : op().outputs[0]);
    }
    for (const Access& access : step_.accesses) {
      if (at(access.tensor).role == ledger::Role::transient) {
        work_.widening_bytes += bytes(access.tensor);
      }
    }
    if (work_.widening_bytes > 0) {
      work_.memory_bytes -= work_.widening_bytes;
      ++work_.kernels;
      ++work_.host_operations;
    }
    if (!packed_behind_another() || work_.widening_bytes > 0) return;
    work_.kernels = 0;
    work_.host_operations = 0;
    // The input, and in backward its gradient, move with the first member.
    const std::int16_t input = op().inputs[0];
    for (const Access& access : step_.accesses) {
      const bool moved = access.tensor == input || at(access.tensor).gradient_of == input;
      if (moved) work_.memory_bytes -= bytes(access.tensor);
    }
  }

  void fused_attention() {
    const plan::ProgramTensor& q = at(op().inputs[0]);
    const auto queries = static_cast<double>(q.shape[0].size * q.shape[1].size);
    const auto width = static_cast<double>(q.shape[q.shape.rank() - 1].size);
    const model::Shape& out = at(op().outputs[0]).shape;
    const double per_key = 2 * (width + static_cast<double>(out[out.rank() - 1].size));
    const auto seq = static_cast<double>(sizes_.seq);
    work_.fused_attention_flops = queries * per_key * mean_visited_keys(sizes_.seq, op().window) *
                                  (forward() ? 1 : kAttentionBackwardProducts);
    const auto window = static_cast<double>(op().window);
    work_.model_flops =
        queries * per_key * (window > 0 ? std::min(window, seq) : seq) * (forward() ? 1 : 2);
    work_.memory_bytes = operand_bytes(2) + parameter_bytes();
  }

  void scores(double scores, std::int16_t width_of) {
    const model::Shape& shape = at(width_of).shape;
    const auto width = static_cast<double>(shape[shape.rank() - 1].size);
    work_.score_flops = 2 * scores * width * (forward() ? 1 : 2);
    work_.model_flops = work_.score_flops;
    work_.memory_bytes = operand_bytes(2);
    work_.kernels = forward() ? 1 : 2;
  }

  void chunked_loss() {
    if (!forward()) return;  // its gradients are made already
    const auto tokens = static_cast<double>(at(op().inputs[0]).shape[0].size);
    const auto chunk = static_cast<double>(op().forward_transients[0].shape[0].size);
    const bool trained = !step_.writes_gradients.empty();
    const double products = trained ? 3 : 2;
    work_.matmul_flops = 2 * tokens * matrix_elements() * products;
    work_.model_flops = work_.matmul_flops;
    double logit_bytes = 0;
    for (const model::Transient& logits : op().forward_transients) {
      logit_bytes += static_cast<double>(bytes_of(logits.shape.elements(), logits.dtype));
    }
    const double chunks = std::max(1.0, tokens / chunk);
    work_.memory_bytes =
        operand_bytes(1) + chunks * (kChunkedLogitMoves * logit_bytes + parameter_bytes());
    work_.kernels = static_cast<int>(chunks * (products + 2));
  }

  // An operation in place on a tensor that its neighbour has in hand.
  [[nodiscard]] bool rides_along() const {
    if (op().kind == OpKind::add_bias || op().kind == OpKind::add_positions) return true;
    return op().kind == OpKind::dropout && forward() &&
           at(op().outputs[0]).storage == at(op().inputs[0]).storage;
  }

  void elementwise() {
    work_.elementwise = true;
    const bool sum = op().kind == OpKind::add || op().kind == OpKind::add_bias ||
                     op().kind == OpKind::add_positions;
    if (sum && !forward()) {
      // The gradient is passed on as it is; only where one is there already do numbers move.
      work_.kernels = 0;
      for (const Access& access : step_.accesses) {
        if (access.mode != AccessMode::accumulate) continue;
        work_.memory_bytes += 3 * bytes(access.tensor);
        ++work_.kernels;
      }
      if (!step_.writes_gradients.empty()) {
        work_.memory_bytes += bytes(step_.accesses[0].tensor);
        ++work_.kernels;
      }
      return;
    }
    if (op().kind == OpKind::split_latent) {  // views
      work_.kernels = 0;
      return;
    }
    if (op().kind == OpKind::embedding_lookup) {
      // A row for each token: read and written, or read, added to and written.
      const double rows = bytes(forward() ? op().outputs[0] : step_.accesses[0].tensor);
      work_.memory_bytes = (forward() ? 2 : 3) * rows;
      return;
    }
    if (op().kind == OpKind::norm && op().outputs.size() > 2) {
      work_.memory_bytes = (forward() ? 1 : 2) * kEagerNormBytes * size(op().inputs[0]);
      return;
    }
    if (op().kind == OpKind::softmax) work_.softmax_scores = size(op().inputs[0]);
    work_.memory_bytes = operand_bytes(2) + parameter_bytes();
    if (!rides_along()) return;
    work_.kernels = 0;
    work_.memory_bytes -= bytes(op().inputs[0]) + bytes(op().outputs[0]);
  }

  const plan::ProgramBlock& block_;
  const plan::Step& step_;
  const model::BatchSizes& sizes_;
  StepWork work_;
};

}  // namespace

double mean_visible_keys(std::int64_t seq, std::int64_t window) {
  const auto s = static_cast<double>(seq);
  const double w = window > 0 ? std::min(static_cast<double>(window), s) : s;
  return (w * (w + 1) / 2 + (s - w) * w) / s;
}

double mean_visited_keys(std::int64_t seq, std::int64_t window) {
  return std::min(mean_visible_keys(seq, window) + kAttentionBlock / 2, static_cast<double>(seq));
}

StepWork step_work(const plan::ProgramBlock& block, const plan::Step& step,
                   const model::BatchSizes& sizes) {
  return WorkOfStep(block, step, sizes).run();
}

}  // namespace fourhold::predict

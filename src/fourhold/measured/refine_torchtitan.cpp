#include "fourhold/measured/refine_torchtitan.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "fourhold/measured/refine_pytorch.h"
#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The first "2024-12" or "2026" of a version; months of one text order as text does.
std::string_view month_of(std::string_view version) {
  for (std::size_t i = 0; i + 4 <= version.size(); ++i) {
    if (version.substr(i, 2) != "20" || !is_digit(version[i + 2]) || !is_digit(version[i + 3])) {
      continue;
    }
    const bool with_month = i + 7 <= version.size() && version[i + 4] == '-';
    return version.substr(i, with_month ? 7 : 4);
  }
  return {};
}

void set_recompute(const MeasuredRow& row, bool eager, RowDraft& draft) {
  const std::string recompute = lowered(row.recompute);
  if (starts_with(recompute, "selective")) {
    // Per operation: every second product and attention are kept, the rest is made again
    // (parallelize_llama.py, _apply_ac_to_transformer_block).
    draft.request.recompute = plan::recompute_from_string("selective:norm,activation,alternate");
    draft.profile.switches.keep_down_product = eager;
  } else if (starts_with(recompute, "default")) {
    draft.request.recompute = plan::recompute_from_string("selective:norm,activation");
    draft.findings.assumes("recompute keeps all products and attention");
  } else if (starts_with(recompute, "auto")) {
    // A solver's choice within the memory that full recomputation takes.
    draft.request.recompute = plan::recompute_from_string("full");
    draft.findings.assumes("recompute is full: that is the memory the solver may use");
  }
}

// components/loss.py. Logits became fp32 before the loss in autumn 2024; until then all of it was
// in 16 bits. Compiled with the model since pytorch/torchtitan#1033, April 2025.
void set_loss(std::string_view month, bool eager, RowDraft& draft) {
  model::LossSaving& loss = draft.profile.switches.loss;
  // pytorch/pytorch, torch/distributed/tensor/parallel/loss.py: (zeros + exp(x)) * gradient.
  if (draft.request.tp.value_or(1) > 1) loss = model::LossSaving::eager_parallel;
  if (month < "2024-10") {
    loss = model::LossSaving::wide;
  } else if (!eager && month >= "2025-04") {
    loss = model::LossSaving::compiled;
  }
}

// The embedding's table is a group of its own since the wrapping that saves memory (commit
// baad09c3b): before, it is of the root, which is whole from forward to backward.
void set_wrapping(const MeasuredRow& row, std::string_view month, RowDraft& draft) {
  const bool split = row.says("with memory-efficient wrapping");
  if (month < "2025-06" && !split) draft.profile.whole_weights = plan::WholeWeights::ends;
  if (!row.says("reshard_after_forward=never") &&
      !contains(lowered(row.sharding), "reshard_after_forward=never")) {
    return;
  }
  draft.request.zero = 3;
  draft.profile.whole_weights = plan::WholeWeights::all;
}

// experiments/graph_trainer: forward, loss and backward are one graph, whose collectives allocate
// on its stream.
void trace_whole_step(RowDraft& draft) {
  draft.profile.shard_streams = plan::ShardStreams::compute;
  draft.profile.switches.loss = model::LossSaving::eager;
  draft.findings.assumes("the step is one graph (graph_trainer)");
}

// pytorch/ao, torchao/float8: scales by row serve one product each, so that an operand is cast from
// 16 bits once for each of the two products it enters; a scale of the tensor serves both.
constexpr double kRowwiseCasts = 2;

void set_time(const MeasuredRow& row, RowDraft& draft) {
  plan::ProfileTime& time = draft.profile.time;
  if (contains(lowered(row.precision), "rowwise")) time.quantisation_traffic *= kRowwiseCasts;
  // Products and their collectives in pieces, as NVIDIA's stack overlaps them.
  if (row.says("async TP") && !row.says("async TP=no")) {
    time.tensor_overlap = draft.catalogue.profile("megatron").time.tensor_overlap;
  }
}

}  // namespace

void refine_torchtitan(const MeasuredRow& row, RowDraft& draft) {
  const bool eager = !starts_with(lowered(row.compile), "yes");
  const std::string_view month = month_of(row.framework_version);
  set_recompute(row, eager, draft);
  set_loss(month, eager, draft);
  set_wrapping(row, month, draft);
  set_time(row, draft);
  if (!eager && month >= "2026") trace_whole_step(draft);
  if (!eager) return;
  run_each_operation(draft);
  // Norms of PyTorch's own are kernels since 2.9 (nightly builds of August 2025); before, they are
  // composed of operations that keep fp32 copies.
  if (month < "2025-09") draft.profile.switches.norm = model::NormSaving::wide;
  draft.profile.reserved_over_allocated = 1.15;
}

}  // namespace fourhold::measured

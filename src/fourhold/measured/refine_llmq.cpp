#include "fourhold/measured/refine_llmq.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fourhold/measured/attention_words.h"
#include "fourhold/measured/row_words.h"
#include "fourhold/plan/recompute_policy.h"

namespace fourhold::measured {
namespace {

constexpr std::string_view kCommand = "full command flags:";

// Of the command of IST-DASLab/llmq, in the spellings of its releases.
constexpr std::array<std::string_view, 16> kFlags{
    "recompute-block",   "recompute-att",    "recompute-qkv",  "recompute-ffn",
    "recompute-swiglu",  "recompute-norm",   "offload-opt-m",  "offload-opt-v",
    "offload-optimizer", "offload-master",   "offload-quants", "offload-grads",
    "offload-gradients", "offload-residual", "shard-weights",  "shard-gradients"};

// The flags of the command, in lower case: what the notes list, and the columns made of flags.
std::string llmq_flags(const MeasuredRow& row) {
  std::string flags =
      lowered(row.recompute) + ' ' + lowered(row.offload) + ' ' + lowered(row.sharding);
  const std::string notes = lowered(row.notes);
  const std::size_t begin = notes.find(kCommand);
  if (begin == std::string::npos) return flags;
  const std::size_t end = std::min(notes.find(';', begin), notes.size());
  return flags + ' ' + notes.substr(begin + kCommand.size(), end - begin - kCommand.size());
}

plan::RecomputePolicy llmq_recompute(std::string_view flags) {
  if (contains(flags, "recompute-block")) return plan::recompute_from_string("full");
  std::vector<std::string_view> groups;
  const bool attention = contains(flags, "recompute-att");
  if (attention) groups.emplace_back("attention");
  if (contains(flags, "recompute-norm")) groups.emplace_back("norm");
  const bool all_of_mlp = contains(flags, "recompute-ffn");
  if (contains(flags, "recompute-swiglu") && !all_of_mlp) groups.emplace_back("activation");
  if (all_of_mlp) groups.emplace_back("mlp");
  if (attention || contains(flags, "recompute-qkv")) groups.emplace_back("qkv");
  if (groups.empty()) return {};
  return plan::recompute_from_string(fmt::format("selective:{}", fmt::join(groups, ",")));
}

void read_llmq_offload(std::string_view flags, RowDraft& draft) {
  plan::PlanRequest& request = draft.request;
  if (contains(flags, "offload-residual")) {
    request.activation_offload = plan::ActivationOffload::residual;
  }
  const bool both = contains(flags, "offload-optimizer");
  const bool first = both || contains(flags, "offload-opt-m");
  const bool second = both || contains(flags, "offload-opt-v");
  const bool master = contains(flags, "offload-master");
  const bool gradients = contains(flags, "offload-grad");
  const bool weights =
      contains(flags, "offload-quants") || (master && contains(flags, "shard-weights"));
  if (!first || !second) {
    if (first || second || master || gradients || weights) {
      draft.findings.assumes("what is offloaded without both moments stays on the device");
    }
    return;
  }
  request.offload = plan::Offload::optimizer;
  if (gradients) request.offload = plan::Offload::optimizer_gradients;
  if (weights) {
    request.offload = plan::Offload::all;
    if (!gradients) draft.findings.assumes("gradients are offloaded with weights and moments");
  }
}

// --zero-level is 1 unless said otherwise.
void read_llmq_sharding(std::string_view flags, RowDraft& draft) {
  plan::PlanRequest& request = draft.request;
  if (request.dp.value_or(1) == 1) return;
  const bool weights = contains(flags, "shard-weights");
  const bool gradients = contains(flags, "shard-gradients");
  if (weights) {
    request.zero = 3;
    if (!gradients) draft.findings.assumes("gradients are sharded with the weights");
  } else {
    request.zero = std::max(request.zero.value_or(0), gradients ? 2 : 1);
  }
}

}  // namespace

bool is_llmq_flag(std::string_view word) {
  return std::find(kFlags.begin(), kFlags.end(), word) != kFlags.end();
}

void refine_llmq(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  const std::string flags = llmq_flags(row);
  plan::PlanRequest& request = draft.request;
  request.recompute = llmq_recompute(flags);
  read_llmq_offload(flags, draft);
  read_llmq_sharding(flags, draft);
  const std::int64_t chunks = number_behind(flags, "lmhead-chunks=").value_or(1);
  if (chunks > 1) {
    request.loss_chunk = std::max<std::int64_t>(*request.micro_batch * *request.seq / chunks, 1);
  }
}

}  // namespace fourhold::measured

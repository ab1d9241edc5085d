#include "fourhold/measured/row_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/measured/attention_words.h"
#include "fourhold/measured/row_tuning.h"
#include "fourhold/measured/row_words.h"
#include "fourhold/plan/recompute_policy.h"

namespace fourhold::measured {
namespace {

void read_degrees(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft) {
  plan::PlanRequest& request = draft.request;
  Findings& findings = draft.findings;
  request.tp = row.tp.value_or(1);
  request.pp = row.pp.value_or(1);
  request.cp = row.cp.value_or(1);
  request.ep = row.experts ? row.ep.value_or(1) : 1;
  if (!row.tp || !row.pp) findings.assumes("degrees that are not published are 1");
  request.vpp = row.vpp.value_or(1);
  const bool nvidia_table = starts_with(lowered(row.framework), "megatron-bridge") ||
                            starts_with(lowered(row.framework), "nemo");
  if (*request.pp == 1) {
    request.vpp = 1;
  } else if (!row.vpp && nvidia_table) {
    findings.lacks("vpp");
  }
  if (*request.vpp > 1) request.schedule = plan::ScheduleKind::interleaved;
  if (*request.tp > 1) {
    request.sp = rule.sequence_parallel == SequenceParallel::with_tensor;
  } else {
    request.sp = false;
  }
  if (!row.num_gpus) {
    findings.lacks("num_gpus");
    return;
  }
  const std::int64_t ranks = *request.tp * *request.pp * *request.cp;
  if (*row.num_gpus % ranks != 0) {
    findings.lacks(fmt::format("a split of {} devices (tp x pp x cp is {})", *row.num_gpus, ranks));
    return;
  }
  request.dp = *row.num_gpus / ranks;
}

// micro_batch x grad_accum x dp is the global batch: two of them give the third.
void read_batch(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft) {
  plan::PlanRequest& request = draft.request;
  Findings& findings = draft.findings;
  request.seq = row.seq_len;
  if (!row.seq_len && row.says("7B_sft config")) {
    // InternLM/InternEvo, configs/7B_sft.py: SEQ_LEN.
    request.seq = 2048;
    findings.assumes("seq_len is 2048, that of the configuration the row names");
  }
  if (!request.seq) findings.lacks("seq_len");
  if (!request.dp) return;
  std::optional<std::int64_t> micro = row.micro_batch;
  std::optional<std::int64_t> accumulation = row.grad_accum;
  const std::int64_t dp = *request.dp;
  if (!micro && !accumulation && rule.micro_batch_tokens > 0 && row.seq_len) {
    micro = std::max<std::int64_t>(rule.micro_batch_tokens / *row.seq_len, 1);
    findings.assumes(fmt::format("a micro-batch is {} sequences", *micro));
  }
  if (row.global_batch) {
    if (!micro && !accumulation) {
      accumulation = 1;
      findings.assumes("the batch is global and goes through in one micro-batch");
    }
    const std::int64_t known = dp * micro.value_or(1) * accumulation.value_or(1);
    if (*row.global_batch % known != 0) {
      findings.lacks(
          fmt::format("a batch that multiplies out ({} over {})", *row.global_batch, known));
      return;
    }
    const std::int64_t rest = *row.global_batch / known;
    if (!micro) {
      micro = rest;
    } else if (!accumulation) {
      accumulation = rest;
    } else if (rest != 1) {
      findings.lacks(
          fmt::format("a batch that multiplies out ({} over {})", *row.global_batch, known));
      return;
    }
  }
  if (!micro) {
    findings.lacks("micro_batch");
    return;
  }
  if (!accumulation) {
    accumulation = 1;
    findings.assumes("there is one micro-batch in a step");
  }
  request.micro_batch = micro;
  request.grad_accum = accumulation;
  request.global_batch = *micro * *accumulation * dp;
}

// Whether a column holds flags of the framework's command ("recompute-ffn recompute-norm"), which
// are its own to read; flags that it does not read are found.
bool holds_flags(std::string_view text, std::string_view column, const FrameworkRule& rule,
                 Findings& findings) {
  if (rule.knows_flag == nullptr) return false;
  constexpr std::string_view kBetween = " ,;";
  constexpr std::array<std::string_view, 3> kBeginnings{"shard-", "recompute-", "offload-"};
  bool any = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (starts_with(word, "--")) word.remove_prefix(2);
    const auto begins = [word](std::string_view beginning) { return starts_with(word, beginning); };
    if (std::none_of(kBeginnings.begin(), kBeginnings.end(), begins)) continue;
    any = true;
    if (!rule.knows_flag(word)) findings.knows_not(word, column);
  }
  return any;
}

// 3 of "zero3", "zero-3 ..." and "zero stage 3"; nothing for other words and other stages.
std::optional<int> zero_stage_of(std::string_view sharding) {
  constexpr std::string_view kZero = "zero";
  if (!starts_with(sharding, kZero)) return std::nullopt;
  sharding.remove_prefix(
      std::min(sharding.find_first_not_of("-_ stage", kZero.size()), sharding.size()));
  const std::size_t digits = std::min(sharding.find_first_not_of("0123456789"), sharding.size());
  if (digits != 1 || sharding.front() > '3') return std::nullopt;
  return sharding.front() - '0';
}

void read_sharding(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft) {
  const std::string sharding = lowered(row.sharding);
  draft.request.zero = 0;
  if (holds_flags(sharding, "sharding", rule, draft.findings)) return;
  const auto begins_with_one_of = [&sharding](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return starts_with(sharding, word); });
  };
  int stage = 0;
  if (const std::optional<int> zero = zero_stage_of(sharding)) {
    stage = *zero;
  } else if (contains(sharding, "fsdp") || contains(sharding, "hsdp")) {
    stage = 3;
  } else if (contains(sharding, "distributed optimizer")) {
    stage = 1;
  } else if (starts_with(sharding, "layer split")) {
    draft.findings.assumes(fmt::format("'{:.60}' is no sharding", row.sharding));
  } else if (!sharding.empty() && !begins_with_one_of({"none", "ddp"})) {
    draft.findings.knows_not(row.sharding, "sharding");
  }
  if (contains(sharding, "hsdp") && !draft.profile.can("hsdp")) {
    draft.findings.contradicts(
        fmt::format("sharding is '{:.60}', but profile '{}' has no shard groups", row.sharding,
                    draft.profile.name));
  } else if (starts_with(sharding, "hsdp")) {
    // PyTorch, torch.distributed.fsdp.ShardingStrategy: HYBRID_SHARD shards within a node.
    shard_over(draft.cluster.devices_per_node, draft);
  }
  draft.request.zero = stage;
}

// "full (block, 3 layers ...)" recomputes the first layers of each stage only.
plan::RecomputePolicy policy_of(std::string_view text) {
  const auto named = [](std::string_view name) { return plan::recompute_from_string(name); };
  if (starts_with(text, "full")) {
    const std::optional<std::int64_t> layers = number_behind(text, "block, ");
    return named(layers ? fmt::format("full:{}", *layers) : std::string("full"));
  }
  // MaxText's names stand for themselves.
  for (const std::string_view set : plan::saved_set_names()) {
    if (text == set) return named(text);
  }
  std::string groups;
  const auto add = [&groups](std::string_view group) {
    groups += (groups.empty() ? "selective:" : ",") + std::string(group);
  };
  if (contains(text, "core_attn") || contains(text, "core-attn")) add("attention");
  if (contains(text, "norm")) add("norm");
  if (contains(text, "act") || contains(text, "ffn")) add("activation");
  if (!groups.empty()) return named(groups);
  return named(starts_with(text, "selective") ? "selective" : "none");
}

void read_recompute(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft) {
  std::string text = lowered(row.recompute);
  if (text.empty()) {
    text = rule.recompute;
    if (text.empty()) {
      draft.findings.lacks("recompute");
      return;
    }
    draft.findings.assumes(fmt::format("recompute is {}", text));
  }
  if (holds_flags(text, "recompute", rule, draft.findings)) return;
  draft.request.recompute = policy_of(text);
  // All but the first are their framework's to read.
  const bool known =
      starts_with(text, "none") || starts_with(text, "auto") || starts_with(text, "default");
  if (draft.request.recompute == plan::RecomputePolicy{} && !known) {
    draft.findings.knows_not(row.recompute, "recompute");
  }
}

// "adamw m=bf16 v=bf16": formats of the moments.
plan::MomentFormat moment_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return plan::MomentFormat::automatic;
  const std::string_view format = text.substr(at + mark.size());
  if (starts_with(format, "bf16")) return plan::MomentFormat::bf16;
  if (starts_with(format, "fp32")) return plan::MomentFormat::fp32;
  if (starts_with(format, "fp8") || starts_with(format, "e4m3")) return plan::MomentFormat::fp8;
  return plan::MomentFormat::automatic;
}

// The first word of the text that is in the list, or the end.
template <class Words>
auto word_in(std::string_view text, const Words& words) {
  return std::find_if(words.begin(), words.end(),
                      [text](const auto& word) { return contains(text, word.text); });
}

// In the order in which they count: bf16 beside fp16 in one text is a run in bf16.
struct FormatWord {
  std::string_view text;
  plan::Precision format;
};
constexpr std::array kFormatWords{
    FormatWord{"bf16", plan::Precision::bf16}, FormatWord{"bfloat16", plan::Precision::bf16},
    FormatWord{"fp16", plan::Precision::fp16}, FormatWord{"float16", plan::Precision::fp16},
    FormatWord{"fp8", plan::Precision::bf16},  FormatWord{"float8", plan::Precision::bf16},
    FormatWord{"fp4", plan::Precision::bf16},  FormatWord{"int4", plan::Precision::bf16},
    FormatWord{"int8", plan::Precision::bf16}, FormatWord{"16-bit", plan::Precision::bf16}};

struct OptimizerWord {
  std::string_view text;
  plan::Optimizer optimizer;
};
constexpr std::array kOptimizerWords{OptimizerWord{"8-bit", plan::Optimizer::adamw_8bit},
                                     OptimizerWord{"8bit", plan::Optimizer::adamw_8bit},
                                     OptimizerWord{"muon", plan::Optimizer::muon},
                                     OptimizerWord{"adafactor", plan::Optimizer::adafactor},
                                     OptimizerWord{"sgd", plan::Optimizer::sgd_momentum},
                                     OptimizerWord{"lion", plan::Optimizer::lion},
                                     OptimizerWord{"adam", plan::Optimizer::adamw}};

void read_formats(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft) {
  const std::string precision = lowered(row.precision);
  const auto* format = word_in(precision, kFormatWords);
  draft.request.precision = format == kFormatWords.end() ? plan::Precision::bf16 : format->format;
  if (starts_with(precision, "fp32") || starts_with(precision, "float32")) {
    draft.request.precision = plan::Precision::fp32;
  } else if (precision.empty()) {
    draft.request.precision = rule.precision;
    draft.findings.assumes(fmt::format(
        "precision is {}", plan::kPrecisionNames.at(static_cast<std::size_t>(rule.precision))));
  } else if (format == kFormatWords.end()) {
    draft.findings.knows_not(row.precision, "precision");
  }

  const std::string optimizer = lowered(row.optimizer);
  const auto* kind = word_in(optimizer, kOptimizerWords);
  draft.request.optimizer =
      kind == kOptimizerWords.end() ? plan::Optimizer::adamw : kind->optimizer;
  if (draft.request.optimizer == plan::Optimizer::adamw) {
    draft.request.first_moment = moment_behind(optimizer, " m=");
    draft.request.second_moment = moment_behind(optimizer, " v=");
  }
  if (contains(optimizer, "lora-fa")) {
    // AdamW over adapters whose first matrix is frozen (Zhang 2023, arXiv 2308.03303).
    draft.findings.assumes(fmt::format("'{:.60}' is taken as AdamW", row.optimizer));
  } else if (kind == kOptimizerWords.end() && !optimizer.empty()) {
    draft.findings.knows_not(row.optimizer, "optimizer");
  }
}

void read_offload(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft) {
  const std::string offload = lowered(row.offload);
  draft.request.offload = plan::Offload::none;
  if (holds_flags(offload, "offload", rule, draft.findings)) return;
  if (contains(offload, "param") || offload == "all") {
    draft.request.offload = plan::Offload::all;
  } else if (contains(offload, "optimizer") && contains(offload, "grad")) {
    draft.request.offload = plan::Offload::optimizer_gradients;
  } else if (contains(offload, "optimizer") || contains(offload, "adam") ||
             contains(offload, "master")) {
    draft.request.offload = plan::Offload::optimizer;
  } else if (starts_with(offload, "activations to cpu")) {
    draft.request.activation_offload = plan::ActivationOffload::residual;
  } else if (contains(offload, "activation") || contains(offload, "residual")) {
    draft.findings.assumes(fmt::format("'{:.60}' stays on the device", row.offload));
  } else if (!offload.empty() && !starts_with(offload, "none")) {
    draft.findings.knows_not(row.offload, "offload");
  }
}

void check_words(const MeasuredRow& row, Findings& findings) {
  if (!knows_attention(row.attention_impl)) {
    findings.knows_not(row.attention_impl, "attention_impl");
  }
  const std::string compile = lowered(row.compile);
  for (const std::string_view word : {"yes", "no", "cuda-graphs"}) {
    if (compile.empty() || starts_with(compile, word)) return;
  }
  findings.knows_not(row.compile, "compile");
}

}  // namespace

void shard_over(std::int64_t ranks, RowDraft& draft) {
  const std::int64_t all = draft.request.dp.value_or(1) * draft.request.cp.value_or(1);
  if (ranks < 1 || ranks >= all) return;
  if (all % ranks == 0) {
    draft.request.shard_groups = all / ranks;
  } else {
    draft.findings.assumes("the shard group is the whole data-parallel group");
  }
}

void read_plan(const MeasuredRow& row, const FrameworkRule& rule, RowDraft& draft) {
  read_degrees(row, rule, draft);
  read_batch(row, rule, draft);
  read_sharding(row, rule, draft);
  read_recompute(row, rule, draft);
  read_formats(row, rule, draft);
  read_offload(row, rule, draft);
  read_tuning(row, draft);
  check_words(row, draft.findings);
}

}  // namespace fourhold::measured

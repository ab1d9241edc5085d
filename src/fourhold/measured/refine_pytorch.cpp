#include "fourhold/measured/refine_pytorch.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/measured/attention_words.h"
#include "fourhold/measured/nanotron_stages.h"
#include "fourhold/measured/row_plan.h"
#include "fourhold/measured/row_tuning.h"
#include "fourhold/measured/row_words.h"

namespace fourhold::measured {

void run_each_operation(RowDraft& draft) {
  plan::Profile& profile = draft.profile;
  const plan::ProfileTime& eager = draft.catalogue.profile("accelerate").time;
  profile.switches.activation = model::ActivationSaving::unfused;
  profile.time.elementwise_traffic = eager.elementwise_traffic;
  profile.time.host_seconds_per_operation = eager.host_seconds_per_operation;
}

namespace {

// The contrary, of a profile that is eager: passes and launches as of the compiled one.
void run_compiled(RowDraft& draft) {
  plan::Profile& profile = draft.profile;
  const plan::ProfileTime& compiled = draft.catalogue.profile("fsdp2").time;
  profile.switches.activation = model::ActivationSaving::fused;
  profile.switches.norm = model::NormSaving::input;
  profile.time.elementwise_traffic = compiled.elementwise_traffic;
  profile.time.host_seconds_per_operation = compiled.host_seconds_per_operation;
}

// Between the ends a stage cannot be empty: it borrows a layer from the fullest.
void give_middle_stages_a_layer(std::vector<std::int64_t>& stages, Findings& findings) {
  for (std::size_t stage = stages.size() - 1; stage-- > 1;) {
    if (stages[stage] > 0) continue;
    auto fullest = std::max_element(stages.begin() + 1, stages.end());
    if (*fullest < 2) fullest = stages.begin();
    --*fullest;
    ++stages[stage];
    findings.assumes("every stage between the ends holds a layer");
  }
}

}  // namespace

void refine_llm_foundry(const MeasuredRow& row, RowDraft& draft) {
  // mp_mode: with PURE gradients travel in 16 bits, with DEFAULT in 32.
  if (row.fact("mp_mode") == "DEFAULT") draft.profile.time.gradient_wire_bytes = 4;
}

void refine_nanotron(const MeasuredRow& /*row*/, RowDraft& draft) {
  const std::int64_t pp = *draft.request.pp;
  if (pp == 1) return;
  std::vector<std::int64_t> stages = nanotron_stages(draft.config, pp);
  give_middle_stages_a_layer(stages, draft.findings);
  draft.request.layers_per_stage = stages;
}

void refine_internevo(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  draft.profile.time.attention_kernel = plan::AttentionKernel::flash_1;
  // InternLM/InternEvo in 2023, internlm/model: nothing is compiled (linear.py multiplies silu's
  // result by an operation of its own), but norms are apex's single kernels (utils.py).
  run_each_operation(draft);
  // InternLM/InternEvo, solver/optimizer/hybrid_zero_optim.py: a step first widens the shard's
  // gradients to fp32; torch's AdamW over lists of tensors then makes two temporary lists.
  draft.profile.optimizer_temporary = 3;
  draft.profile.reservation = plan::Reservation::allocator;
  draft.profile.optimizer_state_created = plan::StateCreation::first_update;
  // ZeRO-1 over so many ranks at a time ("shard group 8"), gradients summed over all.
  if (const auto group = number_behind(row.sharding, "shard group ")) shard_over(*group, draft);
}

void refine_deepspeed(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  // The repository's scripts: ZeRO-2 for adapters, ZeRO-3 for all weights.
  if (row.sharding.empty() && draft.request.dp.value_or(1) > 1) {
    const bool full = draft.request.tuning == plan::Tuning::full;
    draft.request.zero = full ? 3 : 2;
    draft.findings.assumes(full ? "sharding is ZeRO-3" : "sharding is ZeRO-2");
  }
}

// QwenLM/Qwen, finetune.py: adapters of rank 64 on c_attn, attn.c_proj, w1 and w2.
void refine_qwen(const MeasuredRow& row, RowDraft& draft) {
  if (draft.request.tuning == plan::Tuning::full)
    draft.profile = draft.catalogue.profile("deepspeed");
  refine_deepspeed(row, draft);
  assume_script({.targets = "all-linear", .rank = 64, .dropout = 0.05}, row, draft);
}

// modelscope/ms-swift: c_attn, the product of q, k and v.
void refine_swift(const MeasuredRow& row, RowDraft& draft) {
  refine_fine_tuning(row, draft);
  assume_script({.targets = "q,k,v", .dropout = 0.05}, row, draft);
}

void refine_fine_tuning(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  // Models loaded in 16 bits are trained as they are: no fp32 copy.
  if (draft.request.tuning == plan::Tuning::full &&
      !contains(lowered(row.optimizer), "deepspeed")) {
    draft.request.precision = plan::Precision::bf16_pure;
    draft.profile.weight_storage = plan::WeightStorage::compute_with_master;
  }
}

void refine_torchtune(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  const bool compiled = starts_with(lowered(row.compile), "yes");
  if (compiled) run_compiled(draft);
  // Logits in pieces came in autumn 2024; a table of single steps says from where on.
  model::LossSaving& loss = draft.profile.switches.loss;
  const bool whole = starts_with(row.framework_version, "2024-0") ||
                     contains(row.notes, "step baseline") || contains(row.notes, "+packed") ||
                     contains(row.notes, "+compile");
  if (whole) loss = compiled ? model::LossSaving::wide : model::LossSaving::eager;
  if (!whole && compiled) loss = model::LossSaving::in_place;
  // pytorch/torchtune, recipes/configs: adapters of rank 8, in llama3_2 of rank 64, on these.
  const std::int64_t rank = contains(lowered(row.model), "llama-3.2") ? 64 : 8;
  assume_script({.targets = "q,v,o,gate,up,down", .rank = rank, .dropout = 0}, row, draft);
  // The recipes for one small device: a paged optimizer that steps inside backward.
  const bool states_nothing = row.optimizer.empty() && row.offload.empty();
  if (states_nothing && draft.request.tuning == plan::Tuning::full) {
    draft.request.offload = plan::Offload::optimizer_gradients;
    draft.findings.assumes("optimizer and gradients are paged to the host");
  }
}

void refine_litgpt(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  // Lightning-AI/litgpt, finetune/lora.py: queries and values.
  assume_script({.targets = "attention-qv", .dropout = 0.05}, row, draft);
}

void refine_graph(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  draft.profile.time.host_seconds_per_operation = 0;
}

// AI-Hypercomputer/maxtext, src/MaxText/configs/base.yml: FSDP over the chips of a slice
// (ici_fsdp_parallelism -1), replicas over slices (dcn_data_parallelism -1).
void refine_maxtext(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  if (!row.sharding.empty()) return;
  draft.request.zero = 3;
  draft.findings.assumes("sharding is FSDP inside a slice");
  if (draft.cluster.device.vendor != "Google") return;
  shard_over(draft.cluster.devices_per_node, draft);
}

void refine_flash_paper(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
}

}  // namespace fourhold::measured

#include "fourhold/measured/refine_megatron.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "fourhold/base/quantity.h"
#include "fourhold/measured/aleph_stages.h"
#include "fourhold/measured/attention_words.h"
#include "fourhold/measured/row_tuning.h"
#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

// decoder-first-pipeline-num-layers and decoder-last-...: the stages between share the rest.
// account-for-...: embedding and loss each count as a layer of the first and the last stage.
void read_uneven_stages(const MeasuredRow& row, RowDraft& draft) {
  const std::int64_t stages = *draft.request.pp * *draft.request.vpp;
  const std::string_view first = row.fact("decoder-first-pipeline-num-layers");
  const std::string_view last = row.fact("decoder-last-pipeline-num-layers");
  const bool embedding = row.is_on("account-for-embedding-in-pipeline-split");
  const bool loss = row.is_on("account-for-loss-in-pipeline-split");
  if (stages == 1 || (first.empty() && last.empty() && !embedding && !loss)) return;
  std::int64_t rest = draft.config.layer_count() + (embedding ? 1 : 0) + (loss ? 1 : 0);
  std::int64_t equal = stages;
  std::int64_t first_layers = 0;
  std::int64_t last_layers = 0;
  if (!first.empty()) {
    first_layers = parse_count(first, "decoder-first-pipeline-num-layers");
    --equal;
  }
  if (!last.empty()) {
    last_layers = parse_count(last, "decoder-last-pipeline-num-layers");
    --equal;
  }
  rest -= first_layers + last_layers;
  const std::int64_t each = equal > 0 ? rest / equal : 0;
  std::vector<std::int64_t> layout(static_cast<std::size_t>(stages), each);
  if (!first.empty()) layout.front() = first_layers;
  if (!last.empty()) layout.back() = last_layers;
  if (embedding) --layout.front();
  if (loss) --layout.back();
  draft.request.layers_per_stage = layout;
}

// Experts are split over ep x (expert tp), dense layers over tp. A plan splits experts by tp too:
// the same share of them, other groups.
void fold_experts(std::int64_t expert_tp, RowDraft& draft) {
  const std::int64_t tp = *draft.request.tp;
  const std::int64_t shares = *draft.request.ep * expert_tp;
  if (expert_tp == tp || shares % tp != 0) return;
  draft.request.ep = shares / tp;
  draft.findings.assumes("experts are split by tp as well, to the same share of a device");
}

// Interleaving takes micro-batches in rounds of pp; a ramped batch is not always a multiple.
void round_up_accumulation(RowDraft& draft) {
  plan::PlanRequest& request = draft.request;
  const std::int64_t pp = *request.pp;
  if (*request.vpp == 1 || *request.grad_accum % pp == 0) return;
  request.grad_accum = (*request.grad_accum / pp + 1) * pp;
  request.global_batch = *request.micro_batch * *request.grad_accum * *request.dp;
  draft.findings.assumes("the micro-batches of a step are rounded up to a multiple of pp");
}

bool is_local(const MeasuredRow& row) { return row.fact("transformer-impl") == "local"; }

// The tests run in deterministic mode. There TransformerEngine takes cuDNN's attention on Hopper
// and FlashAttention elsewhere (NVIDIA/TransformerEngine,
// transformer_engine/pytorch/attention/dot_product_attention/utils.py, get_attention_backend),
// whose batch-first output is copied into the sequence-first input of the projection; of one
// sequence both are the same memory.
model::AttentionSaving attention_of(const MeasuredRow& row, const RowDraft& draft) {
  using enum model::AttentionSaving;
  if (row.attention_impl == "unfused" || is_local(row)) return unfused;
  constexpr double kHopper = 9;
  const bool is_hopper = draft.cluster.device.compute_capability == kHopper;
  const bool by_cudnn =
      row.attention_impl == "fused" || (row.attention_impl != "flash" && is_hopper);
  return by_cudnn || *draft.request.micro_batch == 1 ? flash : flash_merged;
}

// --cross-entropy-loss-fusion. Without it the loss is Megatron's own, in fp32; the native fusion
// is compiled, and the compiler makes each step over the logits a tensor of its own.
model::LossSaving loss_of(const MeasuredRow& row) {
  if (!row.is_on("cross-entropy-loss-fusion")) return model::LossSaving::vocab_parallel;
  return row.fact("cross-entropy-fusion-impl") == "te" ? model::LossSaving::in_place
                                                       : model::LossSaving::eager_held;
}

// What the tests' scripts allocate beside the model: their environment sets
// CUBLAS_WORKSPACE_CONFIG=:4096:8 (NVIDIA/Megatron-LM, model_config.yaml of each test), and
// pretrain_gpt.py makes a dense mask unless told not to. Layers without TransformerEngine keep a
// buffer of scores (megatron/core/transformer/dot_product_attention.py); routers use its products
// in all layers.
void read_buffers(const MeasuredRow& row, plan::Profile& profile) {
  profile.cublas_workspace_bytes = std::int64_t{8} * 4096 * 1024;
  if (!row.is_on("moe-grouped-gemm")) profile.grouped_workspaces = 0;
  profile.switches.keep_permuted_rows = false;
  if (!row.is_on("no-create-attention-mask-in-dataloader")) {
    profile.batch_mask = plan::BatchMask::dense;
  }
  if (!is_local(row)) return;
  profile.score_buffer = plan::ScoreBuffer::persistent;
  if (!row.experts) profile.product_workspaces = plan::ProductWorkspaces::cublas;
}

// Gradients of fp16 runs are added up in fp16; the optimizer's step makes fp32 ones of its shard
// (NVIDIA/Megatron-LM, megatron/training/arguments.py: --accumulate-allreduce-grads-in-fp32 comes
// with bf16).
void read_gradients(RowDraft& draft) {
  if (draft.request.precision != plan::Precision::fp16) return;
  draft.profile.fp32_gradients = false;
  draft.profile.optimizer_temporary = 1;
}

}  // namespace

void refine_megatron_core(const MeasuredRow& row, RowDraft& draft) {
  plan::Profile& profile = draft.profile;
  draft.request.sp = *draft.request.tp > 1 && row.is_on("sequence-parallel");
  profile.switches.attention = attention_of(row, draft);
  profile.switches.loss = loss_of(row);
  read_buffers(row, profile);
  read_gradients(draft);
  // The CI recipes switch fused accumulation off, and with it the cached gradients.
  if (row.is_on("no-gradient-accumulation-fusion")) {
    profile.dummy_weight_gradients = plan::DummyWeightGradients::none;
  }
  if (const std::string_view multiple = row.fact("make-vocab-size-divisible-by");
      !multiple.empty()) {
    profile.vocabulary_multiple = parse_count(multiple, "make-vocab-size-divisible-by");
  }
  // --num-distributed-optimizer-instances, which the tests of that name set to 2.
  const bool instances = contains(row.model, "dist_optimizer_instances");
  if (instances && *draft.request.dp % 2 == 0) draft.request.shard_groups = 2;
  constexpr std::string_view kPrediction = "mtp-num-layers";
  if (const std::string_view layers = row.fact(kPrediction); !layers.empty()) {
    draft.request.prediction_layers = parse_count(layers, std::string(kPrediction));
  }
  read_uneven_stages(row, draft);
  round_up_accumulation(draft);
  const std::string_view expert_tp = row.fact("expert-tensor-parallel-size");
  if (row.experts && !expert_tp.empty()) {
    fold_experts(parse_count(expert_tp, "expert-tensor-parallel-size"), draft);
  }
}

void refine_megatron_2021(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  if (row.says("sequence parallel on")) draft.request.sp = *draft.request.tp > 1;
  // The libraries that NVIDIA's own runs had.
  if (starts_with(lowered(row.framework), "megatron-lm")) draft.profile.time.matmul_rate = 1;
}

void refine_megatron_deepspeed(const MeasuredRow& row, RowDraft& draft) {
  set_attention(row.attention_impl, draft.profile);
  // Libraries of 2023 (VIA-Research/vTrain).
  if (starts_with(row.family(), "vtrain")) draft.profile.time.matmul_rate = 1;
  if (draft.request.precision == plan::Precision::bf16) {
    draft.request.gradient_accumulation = plan::GradientAccumulation::fp32;
    draft.profile.optimizer_temporary = 0;  // the accumulators are what the step reads
  }
}

void refine_simumax(const MeasuredRow& row, RowDraft& draft) {
  // --tp-comm-overlap is off unless it is asked for.
  draft.profile.time.tensor_overlap = 0;
  if (!row.says("cross-entropy fusion on")) {
    draft.profile.switches.loss = model::LossSaving::vocab_parallel;
  }
}

void refine_nvidia(const MeasuredRow& row, RowDraft& draft) {
  if (row.says("tokendrop") || contains(lowered(row.model), "tokendrop")) {
    draft.findings.assumes("no token is dropped");
  }
  if (row.experts) fold_experts(1, draft);  // these recipes do not split an expert
  // NVIDIA/NeMo, examples/nlp/language_modeling/tuning/conf/megatron_gpt_finetuning_config.yaml
  // (attention_qkv, adapter_dim 32, adapter_dropout 0), and NVIDIA-NeMo/Megatron-Bridge,
  // scripts/performance (peft.target_modules linear_qkv).
  assume_script({.targets = "q,k,v", .rank = 32}, row, draft);
}

void refine_aleph_alpha(const MeasuredRow& row, RowDraft& draft) {
  plan::Profile& profile = draft.profile;
  set_attention(row.attention_impl, profile);
  profile.time.matmul_rate = 1;  // runs of 2023
  if (row.fact("sequence_parallel") == "on") draft.request.sp = *draft.request.tp > 1;
  // Aleph-Alpha/scaling, core/nn/attention/attention.py: q, k and v are slices of one product; of a
  // single sequence v stays one, of several it is copied. core/nn/masked_softmax: in eager PyTorch
  // the softmax is fp32.
  if (*draft.request.micro_batch == 1) {
    profile.switches.fused_qkv = model::FusedQkv::views;
  } else if (profile.switches.attention == model::AttentionSaving::flash) {
    // Rearranged from sequences of a batch to the layout of the projection.
    profile.switches.attention = model::AttentionSaving::flash_merged;
  }
  // core/nn/norm: what a norm gathers from sequence-parallel ranks is what plain linears keep.
  profile.switches.gathered_inputs = model::Gathered::kept;
  // Context, communicators and fragments, as on BigScience's A100s (its profile's sources).
  profile.runtime_bytes = draft.catalogue.profile("megatron-deepspeed").runtime_bytes;
  if (starts_with(lowered(row.attention_impl), "torch")) {
    profile.switches.attention = model::AttentionSaving::unfused_wide;
    profile.time.fused_softmax_keys = *draft.request.seq;  // its copies are among those tensors
  }
  // 16-bit gradients beside the fp32 optimizer; norms, activation and loss in eager PyTorch. The
  // RMS norm is a kernel where the row says so.
  profile.fp32_gradients = false;
  profile.switches.activation = model::ActivationSaving::unfused;
  profile.switches.norm = contains(row.attention_impl, "RMS kernel") ? model::NormSaving::input
                                                                     : model::NormSaving::wide;
  // Aleph-Alpha/scaling: the head's output is gathered from all tensor ranks before
  // torch.nn.functional.cross_entropy (core/nn/linear/column_parallel_linear.py, lm_head.py,
  // losses/cross_entropy.py), and a stage keeps the outputs of at least two micro-batches in its
  // buffers (core/nn/pipeline_schedule/train.py).
  profile.switches.loss = model::LossSaving::eager_gathered;
  profile.vocabulary_multiple = 1;
  profile.vocabulary_multiple_times_tp = false;
  profile.time.gradient_wire_bytes = 4;
  // core/nn/mlp.py (ParallelSwiGLUMLP): dense_in and siglu_weight.
  profile.time.gate_and_up = plan::GateAndUp::two_layers;
  if (const std::int64_t pp = *draft.request.pp; pp > 1) {
    draft.request.layers_per_stage = aleph_stages(draft.config.layer_count(), pp);
  }
}

}  // namespace fourhold::measured

#include "fourhold/api/run_notes.h"

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/predict/fit.h"

namespace fourhold::api {

void add_zero_note(const plan::Plan& plan, std::vector<std::string>& notes) {
  if (plan.zero == 0 || plan.dp * plan.cp > plan.shard_groups) return;
  notes.push_back(fmt::format(
      "ZeRO-{} over one rank changes nothing: there is no other rank to hold a share of "
      "the state",
      plan.zero));
}

std::optional<model::TrainableCounts> trainable_of(const model::ModelConfig& model,
                                                   const plan::Plan& plan,
                                                   const plan::Profile& profile) {
  if (plan.tuning == plan::Tuning::full) return std::nullopt;
  return model::count_trainable(model, plan::switches_of(plan, profile));
}

void add_trainable_note(const std::optional<model::TrainableCounts>& counts,
                        std::vector<std::string>& notes) {
  if (!counts) return;
  const double share =
      100 * static_cast<double>(counts->trainable) / static_cast<double>(counts->total);
  notes.push_back(fmt::format("{} of {} parameters are trained ({:.2f}%)",
                              format_count(counts->trainable), format_count(counts->total), share));
}

void add_experts_note(const model::ModelConfig& model, const plan::Plan& plan,
                      std::vector<std::string>& notes) {
  if (plan.tuning == plan::Tuning::full) return;
  // An adapter of rank r beside a matrix [in, out] has r x (in + out) parameters.
  double parameters = 0;
  for (const int kind : model.layers) {
    const model::FeedForward& ffn = model.kinds[static_cast<std::size_t>(kind)].feed_forward;
    if (ffn.kind != model::FeedForwardKind::experts) continue;
    const double matrices = static_cast<double>(ffn.experts) * (ffn.gated ? 3 : 2);
    parameters += matrices * static_cast<double>(plan.lora_rank) *
                  (static_cast<double>(model.hidden) + static_cast<double>(ffn.expert_width));
  }
  if (parameters == 0) return;
  // huggingface/peft, utils/constants.py: the default targets of Mixtral are q_proj and v_proj.
  notes.push_back(
      fmt::format("no adapters are counted beside routed experts and routers, whatever "
                  "lora_targets says: beside "
                  "all experts they would be {} parameters more; PEFT's default leaves experts out "
                  "too (Mixtral: "
                  "q_proj,v_proj), its all-linear takes in those that are linears",
                  format_count(static_cast<std::int64_t>(parameters))));
}

void add_run_notes(const PlannedRun& planned, const plan::Profile& profile,
                   std::vector<std::string>& notes) {
  const plan::Plan& plan = planned.plan;
  if (plan.tuning != plan::Tuning::full) notes.emplace_back(kAdaptersElsewhere);
  add_zero_note(plan, notes);
  const predict::ActivationBytes activations = predict::activation_bytes(planned.memory);
  const std::int64_t tokens = plan.micro_batch * (plan.seq / plan.cp);
  constexpr std::int64_t kChunk = 1024;
  if (plan.loss_chunk >= tokens) {
    notes.push_back(fmt::format("a loss chunk of {} tokens is one piece: a device has {}",
                                plan.loss_chunk, tokens));
  }
  const bool may_be_chunked = plan.loss_chunk == 0 && plan.prediction_layers == 0;
  if (may_be_chunked && tokens > kChunk && activations.logits * 2 > activations.total) {
    notes.push_back(fmt::format(
        "logits take {} of the {} of activations: --loss-chunk 1024 makes them piece by piece",
        format_bytes(activations.logits), format_bytes(activations.total)));
  }
  if (plan.precision == plan::Precision::bf16_pure) {
    notes.emplace_back(
        "bf16-pure keeps no fp32 copy: an update below 1/256 of its weight is rounded away; "
        "bf16-sr, bf16-kahan or bf16-split keep it");
  }
  const Bytes host = planned.memory.on_host();
  if (planned.capacity && !planned.capacity->host_bytes && host > Bytes(0)) {
    notes.push_back(fmt::format(
        "{} of host memory are needed per device and were not checked: give --host-memory",
        format_bytes(host)));
  }
  if (planned.memory.allocator && planned.memory.allocator->out_of_memory) {
    notes.emplace_back(
        "the caching allocator may run out: its free blocks are split so that they do not serve "
        "all requests, though their sum would; expandable segments avoid that");
  } else if (planned.memory.allocator && planned.memory.allocator->flushed) {
    notes.emplace_back(
        "the caching allocator fills the device and gives back what it cached, which costs time "
        "in the first steps");
  }
  // Where the step itself needs as much, its own verdict says enough.
  const predict::MemoryPrediction& memory = planned.memory;
  if (planned.capacity && memory.startup_bytes > planned.capacity->usable_bytes &&
      memory.startup_bytes > memory.device_bytes) {
    notes.push_back(fmt::format("loading the model holds {} on each device, more than it has{}{}",
                                format_bytes(memory.startup_bytes),
                                profile.startup_note.empty() ? "" : ": ", profile.startup_note));
  }
}

}  // namespace fourhold::api

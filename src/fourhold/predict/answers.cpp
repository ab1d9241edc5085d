#include "fourhold/predict/answers.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/validate.h"

namespace fourhold::predict {
namespace {

using plan::Offload;
using plan::Optimizer;
using plan::Plan;
using plan::RecomputeKind;

// Most devices an answer proposes to spread one replica's state over.
constexpr std::int64_t kMostDevices = 1024;
// Devices that are counted one by one, as they may stand in one machine; from there on by doubling.
constexpr std::int64_t kCountedSingly = 8;
// Tokens of a proposed chunk of head and loss.
constexpr std::int64_t kLossChunk = 1024;

class Search {
 public:
  Search(const model::ModelConfig& config, const Plan& plan, const plan::Profile& profile,
         const MemoryPrediction& memory, const Capacity& capacity, ShortOf short_of)
      : config_(config),
        plan_(plan),
        profile_(profile),
        memory_(memory),
        capacity_(capacity),
        short_of_(short_of) {}

  std::vector<Answer> state() {
    // Who has one device asks first what it can do; among several, what is split costs least.
    if (plan_.devices() == 1) {
      shrink_state();
      spread_state();
    } else {
      spread_state();
      shrink_state();
    }
    return std::move(answers_);
  }

  std::vector<Answer> activations() {
    on_the_same_devices();
    split_layers();
    split_tensors();
    split_sequence();
    return std::move(answers_);
  }

  // The first of the changes to an activation failure that need no further device and cure it.
  std::optional<Answer> cure_on_the_same_devices() {
    on_the_same_devices();
    for (Answer& answer : answers_) {
      if (answer.then_class == VerdictClass::fits) return std::move(answer);
    }
    return std::nullopt;
  }

 private:
  // On more devices.
  void spread_state() {
    shard_state();
    split_tensors();
    split_layers();
  }

  // On the devices there are.
  void shrink_state() {
    if (short_of_ == ShortOf::host) {
      offload_less();
    } else {
      offload();
    }
    smaller_optimizer_state();
    train_adapters();
  }

  void on_the_same_devices() {
    smaller_micro_batch();
    recompute();
    chunk_loss();
  }

  // The change as predicted, or nothing where this plan is not legal.
  std::optional<Answer> attempt(const std::string& change, Plan changed) const {
    try {
      changed.layers_per_stage =
          plan::canonical_layout(config_.layer_count(), changed.pp * changed.vpp);
      plan::validate(changed, config_, profile_);
    } catch (const Error&) {
      return std::nullopt;  // an illegal change is no answer
    }
    const MemoryPrediction predicted = predict_memory(config_, changed, profile_, WithLedger::no);
    Answer answer;
    answer.change = change;
    answer.plan = std::move(changed);
    answer.saves_bytes = held(memory_) - held(predicted);
    const Capacity there = over_devices(capacity_, answer.plan.devices());
    answer.then_class = classify(predicted, there);
    answer.then_host_lacks = shortfall_of(predicted, there).host;
    if (ends_state_failure(answer)) {
      Search next(config_, answer.plan, profile_, predicted, there, ShortOf::device);
      if (std::optional<Answer> cure = next.cure_on_the_same_devices()) {
        answer.then_change = SecondChange{std::move(cure->change), std::move(cure->plan)};
      }
    }
    return answer;
  }

  // Of the memory that is short.
  [[nodiscard]] Bytes held(const MemoryPrediction& memory) const {
    return short_of_ == ShortOf::host ? memory.host_bytes + memory.host_staging_bytes
                                      : memory.needed_bytes;
  }

  [[nodiscard]] bool ends_state_failure(const Answer& answer) const {
    return answer.then_class == VerdictClass::activations_do_not_fit &&
           classify(memory_, capacity_) == VerdictClass::state_does_not_fit;
  }

  // How far a change leads: 2 to a fit, if need be with a second change on the same devices; 1 from
  // a state failure to an activation failure, 0 nowhere.
  [[nodiscard]] int progress(const Answer& answer) const {
    if (answer.then_class == VerdictClass::fits || answer.then_change) return 2;
    return ends_state_failure(answer) ? 1 : 0;
  }

  // Tries changes of one kind from the smallest on, and keeps the smallest that leads furthest; of
  // those that lead nowhere the one that saves most within a node.
  class Kind {
   public:
    explicit Kind(Search& search) : search_(search) {}
    // True when no further change of this kind is worth trying.
    bool offer(const std::string& change, const Plan& changed) {
      std::optional<Answer> answer = search_.attempt(change, changed);
      if (!answer || answer->saves_bytes <= Bytes(0)) return false;
      const int progress = search_.progress(*answer);
      const bool within_node = changed.devices() <= search_.node();
      const bool better = !best_ || progress > progress_ ||
                          (progress == 0 && progress_ == 0 && within_node &&
                           answer->saves_bytes > best_->saves_bytes);
      if (better) {
        best_ = std::move(answer);
        progress_ = progress;
      }
      return progress == 2;
    }
    void keep() {
      if (best_) search_.answers_.push_back(std::move(*best_));
    }

   private:
    Search& search_;
    std::optional<Answer> best_;
    int progress_ = 0;
  };

  [[nodiscard]] std::int64_t node() const {
    return std::max<std::int64_t>(capacity_.devices_per_node, 8);
  }

  void shard_state() {
    const auto first = static_cast<std::ptrdiff_t>(answers_.size());
    bool cured_here = false;  // on the devices there are: nothing beats that
    for (int zero = std::max(plan_.zero, 1); zero <= 3 && !cured_here; ++zero) {
      Kind kind(*this);
      const std::int64_t given = plan_.dp * plan_.cp;
      if (given > 1) {
        Plan changed = plan_;
        changed.zero = zero;
        if (zero > plan_.zero &&
            kind.offer(fmt::format("ZeRO-{} over the {} replicas there are", zero, given),
                       changed)) {
          kind.keep();
          cured_here = true;
          continue;
        }
      }
      // More devices on the same split: each one holds a smaller part, and runs its own
      // micro-batch.
      for (std::int64_t replicas = 2; replicas <= kMostDevices;
           replicas += replicas < kCountedSingly ? 1 : replicas) {
        if (replicas <= plan_.dp) continue;
        Plan changed = plan_;
        changed.zero = zero;
        changed.dp = replicas;
        changed.global_batch = changed.micro_batch * changed.grad_accum * replicas;
        if (kind.offer(fmt::format("ZeRO-{} over {} devices", zero, changed.devices()), changed)) {
          break;
        }
      }
      kind.keep();
    }
    // What cures first; fewer devices cost less than less traffic.
    std::stable_sort(answers_.begin() + first, answers_.end(),
                     [this](const Answer& a, const Answer& b) {
                       if (progress(a) != progress(b)) return progress(a) > progress(b);
                       return a.plan.devices() < b.plan.devices();
                     });
  }

  void split_tensors() {
    Kind kind(*this);
    const plan::TensorDegrees degrees = plan::tensor_degrees(config_);
    for (const std::int64_t tp : degrees.clean) {
      if (tp <= plan_.tp || tp > node()) continue;
      Plan changed = plan_;
      changed.tp = tp;
      changed.sp = profile_.can("sp") && plan_.seq % (tp * plan_.cp) == 0;
      if (kind.offer(fmt::format("tensor parallel {} ({} devices)", tp, changed.devices()),
                     changed)) {
        break;
      }
    }
    kind.keep();
  }

  void split_layers() {
    Kind kind(*this);
    for (std::int64_t pp = 2; pp <= std::min<std::int64_t>(config_.layer_count(), 64); pp *= 2) {
      if (pp <= plan_.pp) continue;
      Plan changed = plan_;
      changed.pp = pp;
      if (kind.offer(fmt::format("pipeline of {} stages ({} devices)", pp, changed.devices()),
                     changed)) {
        break;
      }
    }
    kind.keep();
  }

  void split_sequence() {
    Kind kind(*this);
    for (std::int64_t cp = 2; cp <= 16; cp *= 2) {
      if (cp <= plan_.cp) continue;
      Plan changed = plan_;
      changed.cp = cp;
      if (kind.offer(fmt::format("context parallel {} ({} devices)", cp, changed.devices()),
                     changed)) {
        break;
      }
    }
    kind.keep();
  }

  void offload() {
    Kind kind(*this);
    for (const Offload offload : {Offload::optimizer, Offload::optimizer_gradients, Offload::all}) {
      if (static_cast<int>(offload) <= static_cast<int>(plan_.offload)) continue;
      Plan changed = plan_;
      changed.offload = offload;
      const std::string what{plan::kOffloadNames[static_cast<std::size_t>(offload)]};
      if (kind.offer("offload " + what + " to host memory", changed)) break;
    }
    kind.keep();
  }

  // Only where the device has room for what comes back.
  void offload_less() {
    Kind kind(*this);
    for (const Offload offload :
         {Offload::optimizer_gradients, Offload::optimizer, Offload::none}) {
      if (static_cast<int>(offload) >= static_cast<int>(plan_.offload)) continue;
      Plan changed = plan_;
      changed.offload = offload;
      const std::string what{plan::kOffloadNames[static_cast<std::size_t>(offload)]};
      if (!kind.offer("offload " + what + " instead of more", changed)) continue;
      kind.keep();
      return;
    }
  }

  void smaller_optimizer_state() {
    if (plan_.optimizer != Optimizer::adamw) return;
    Kind kind(*this);
    Plan changed = plan_;
    changed.optimizer = Optimizer::adamw_8bit;
    changed.first_moment = plan::MomentFormat::automatic;
    changed.second_moment = plan::MomentFormat::automatic;
    kind.offer("8-bit AdamW: moments in one byte each", changed);
    kind.keep();
  }

  void train_adapters() {
    if (plan_.tuning != plan::Tuning::full) return;
    Kind kind(*this);
    Plan changed = plan_;
    changed.tuning = plan::Tuning::lora;
    changed.lora_rank = plan::kDefaultLoraRank;
    const auto text = [&changed](std::string_view name, std::string_view frozen) {
      return fmt::format("{} of rank {} (fine-tuning): the base is frozen{}", name,
                         changed.lora_rank, frozen);
    };
    if (!kind.offer(text("LoRA", ""), changed)) {
      changed.tuning = plan::Tuning::qlora;
      kind.offer(text("QLoRA", " in 4 bits"), changed);
    }
    kind.keep();
  }

  void smaller_micro_batch() {
    Kind kind(*this);
    for (std::int64_t micro_batch = plan_.micro_batch - 1; micro_batch >= 1; --micro_batch) {
      if (plan_.micro_batch % micro_batch != 0) continue;  // the global batch stays what it is
      Plan changed = plan_;
      changed.micro_batch = micro_batch;
      changed.grad_accum = plan_.grad_accum * (plan_.micro_batch / micro_batch);
      if (kind.offer(fmt::format("micro-batch {} x {} accumulation steps, the same global batch",
                                 micro_batch, changed.grad_accum),
                     changed)) {
        break;
      }
    }
    kind.keep();
  }

  void recompute() {
    if (plan_.recompute.kind == RecomputeKind::full && plan_.recompute.full_layers < 0) return;
    const bool by_groups = profile_.recompute_choice == plan::RecomputeChoice::groups;
    if (plan_.recompute.kind == RecomputeKind::none && by_groups) {
      Kind selective(*this);
      Plan changed = plan_;
      changed.recompute = plan::recompute_from_string("selective");
      selective.offer("recompute selective: the attention core again in backward", changed);
      selective.keep();
    }
    Plan changed = plan_;
    changed.recompute = plan::recompute_from_string("full");
    Kind full(*this);
    const bool cures = full.offer(
        "recompute full: every layer again in backward, about a third more compute", changed);
    if (cures && by_groups) recompute_partly(changed);
    full.keep();
  }

  // The fewest layers that are enough, where fewer than all are: each saves the same, so one count
  // of them is found by halving.
  void recompute_partly(Plan changed) {
    const std::vector<std::int64_t> layout =
        plan::canonical_layout(config_.layer_count(), plan_.pp * plan_.vpp);
    const std::int64_t most = *std::max_element(layout.begin(), layout.end()) * plan_.vpp;
    std::int64_t enough = most;  // as full
    std::optional<Answer> least;
    for (std::int64_t short_of = 0; enough - short_of > 1;) {
      const std::int64_t layers = short_of + (enough - short_of) / 2;
      changed.recompute.full_layers = layers;
      std::optional<Answer> answer = attempt(
          fmt::format("recompute full:{0}: the first {1} of each device's again in backward",
                      layers, counted(layers, "layer")),
          changed);
      const bool fits = answer && answer->then_class == VerdictClass::fits;
      (fits ? enough : short_of) = layers;
      if (fits) least = std::move(answer);
    }
    if (least) answers_.push_back(std::move(*least));
  }

  void chunk_loss() {
    if (plan_.loss_chunk > 0 || plan_.micro_batch * plan_.seq / plan_.cp <= kLossChunk) return;
    Kind kind(*this);
    Plan changed = plan_;
    changed.loss_chunk = kLossChunk;
    kind.offer(fmt::format("loss in chunks of {} tokens: logits never stand whole", kLossChunk),
               changed);
    kind.keep();
  }

  const model::ModelConfig& config_;
  const Plan& plan_;
  const plan::Profile& profile_;
  const MemoryPrediction& memory_;
  const Capacity& capacity_;
  ShortOf short_of_;
  std::vector<Answer> answers_;
};

}  // namespace

std::vector<Answer> find_answers(const model::ModelConfig& config, const Plan& plan,
                                 const plan::Profile& profile, const MemoryPrediction& memory,
                                 const Capacity& capacity, VerdictClass failure, ShortOf short_of) {
  Search search(config, plan, profile, memory, capacity, short_of);
  return failure == VerdictClass::state_does_not_fit ? search.state() : search.activations();
}

}  // namespace fourhold::predict

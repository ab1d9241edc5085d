// A plan as JSON and as one line, and whether two are equal.
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/plan/field_value.h"
#include "fourhold/plan/lora_targets.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/plan_fields.h"

namespace fourhold::plan {
namespace {

// "11/12/12/11", or "" for stages of equal size.
std::string uneven_layout(const Plan& plan) {
  constexpr std::size_t kMaxPrinted = 64;
  const std::vector<std::int64_t>& layers = plan.layers_per_stage;
  if (layers.empty() || layers.size() > kMaxPrinted) return {};
  if (std::count(layers.begin(), layers.end(), layers.front()) ==
      static_cast<std::ptrdiff_t>(layers.size())) {
    return {};
  }
  return fmt::format("{}", fmt::join(layers, "/"));
}

class Line {
 public:
  void add(const std::string& part) { text_ += text_.empty() ? part : ", " + part; }
  void add_degree(std::string_view name, std::int64_t degree) {
    if (degree > 1) add(fmt::format("{} {}", name, degree));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

bool operator==(const Plan& a, const Plan& b) {
  bool equal = true;
  visit_fields([&equal](const FieldInfo& /*info*/, const auto& left,
                        const auto& right) { equal = equal && left == right; },
               a, b);
  return equal;
}

json::Value to_json(const Plan& plan) {
  json::Object out;
  visit_fields([&out](const FieldInfo& info,
                      const auto& value) { out.emplace_back(info.name, field_json(value)); },
               plan);
  return out;
}

Plan plan_from_json(const json::Value& value, const std::string& where) {
  Plan plan;
  try {
    FieldReader reader(value, "");
    visit_fields(
        [&reader](const FieldInfo& info, auto& field) {
          if (const json::Value* found = reader.value(info.name)) {
            read_field(*found, reader.path(info.name), info, field);
          }
        },
        plan);
    reader.refuse_unread();
    if (plan.seq == 0) throw Error("seq", "is missing", "add the tokens per sequence");
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
  return plan;
}

std::string to_string(const Plan& plan) {
  Line line;
  if (plan.tp > 1) line.add(fmt::format("tp {}{}", plan.tp, plan.sp ? " (sp)" : ""));
  if (plan.pp > 1) {
    const std::string layout = uneven_layout(plan);
    line.add(fmt::format("pp {}{}", plan.pp, layout.empty() ? "" : " (layers " + layout + ")"));
  }
  line.add_degree("vpp", plan.vpp);
  line.add_degree("cp", plan.cp);
  line.add_degree("ep", plan.ep);
  line.add(fmt::format("dp {}", plan.dp));
  if (plan.zero > 0) line.add(fmt::format("zero {}", plan.zero));
  line.add(fmt::format("micro-batch {} x {}", plan.micro_batch, plan.grad_accum));
  line.add(fmt::format("global batch {}", plan.global_batch));
  line.add(fmt::format("seq {}", plan.seq));
  if (plan.schedule == ScheduleKind::gpipe) line.add("gpipe");
  if (plan.recompute.kind != RecomputeKind::none) {
    line.add("recompute " + to_string(plan.recompute));
  }
  if (plan.offload != Offload::none) {
    line.add(fmt::format("offload {}", kOffloadNames[static_cast<std::size_t>(plan.offload)]));
  }
  if (plan.activation_offload == ActivationOffload::residual) line.add("residual on the host");
  line.add(std::string(kPrecisionNames[static_cast<std::size_t>(plan.precision)]));
  line.add(std::string(kOptimizerNames[static_cast<std::size_t>(plan.optimizer)]));
  const auto add_moment = [&line](std::string_view which, MomentFormat format) {
    if (format == MomentFormat::automatic) return;
    line.add(
        fmt::format("{} moment {}", which, kMomentFormatNames[static_cast<std::size_t>(format)]));
  };
  add_moment("first", plan.first_moment);
  add_moment("second", plan.second_moment);
  if (plan.gradient_accumulation == GradientAccumulation::fp32) line.add("fp32 gradients");
  if (plan.loss_chunk > 0) line.add(fmt::format("loss in chunks of {}", plan.loss_chunk));
  if (plan.shard_groups > 1) line.add(fmt::format("shard groups {}", plan.shard_groups));
  if (plan.prediction_layers > 0) {
    line.add(fmt::format("multi-token prediction {}", plan.prediction_layers));
  }
  if (plan.tuning != Tuning::full) {
    line.add(fmt::format("{} of rank {}", kTuningNames[static_cast<std::size_t>(plan.tuning)],
                         plan.lora_rank));
    if (!(plan.lora_targets == model::AdapterTargets::all())) {
      line.add("adapters on " + to_string(plan.lora_targets));
    }
    if (plan.lora_dropout > 0) line.add(fmt::format("adapter dropout {:g}", plan.lora_dropout));
    if (plan.base_precision != BasePrecision::automatic) {
      line.add(fmt::format("base {}",
                           kBasePrecisionNames[static_cast<std::size_t>(plan.base_precision)]));
    }
    if (plan.modules_to_save != model::TrainedModules::none) {
      line.add(fmt::format("{} trained",
                           kModulesToSaveNames[static_cast<std::size_t>(plan.modules_to_save)]));
    }
  }
  line.add(fmt::format("profile {:.60}", plan.profile));
  return line.text();
}

}  // namespace fourhold::plan

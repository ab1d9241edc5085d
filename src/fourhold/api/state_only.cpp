#include "fourhold/api/state_only.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/run_notes.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/validate.h"

namespace fourhold::api {
namespace {

constexpr std::int64_t kMostDevices = std::int64_t{1} << 24;

// The fields that mean something without shapes.
constexpr std::array<std::string_view, 8> kUsable{
    "dp",           "zero",          "precision", "optimizer",
    "first_moment", "second_moment", "profile",   "gradient_accumulation"};

void refuse_shapes(const plan::PlanRequest& request) {
  plan::visit_fields(
      [](const plan::FieldInfo& info, const auto& field) {
        if (!field || std::find(kUsable.begin(), kUsable.end(), info.name) != kUsable.end()) return;
        throw Error(flag_of(info.name), "needs a model: a bare count of parameters has no shapes",
                    "leave it out, or name a MODEL instead of --parameters");
      },
      request);
}

// What a plan says of formats and devices; the rest stays open.
plan::Plan plan_of(const plan::PlanRequest& request, const plan::Profile& profile) {
  plan::Plan plan;
  plan.profile = profile.name;
  plan.zero = profile.zero_stages.front();
  plan::visit_fields(
      [](const plan::FieldInfo& /*info*/, const auto& wanted, auto& value) {
        if (wanted) value = *wanted;
      },
      request, plan);
  if (request.count && request.dp && *request.count != *request.dp) {
    throw Error("dp", fmt::format("is {}, but count is {}", *request.dp, *request.count),
                "leave out one of them");
  }
  if (request.count) plan.dp = *request.count;
  plan.global_batch = plan.dp;
  const std::vector<int>& stages = profile.zero_stages;
  if (std::find(stages.begin(), stages.end(), plan.zero) == stages.end()) {
    throw Error("zero", fmt::format("profile '{}' has no stage {}", profile.name, plan.zero),
                "`fourhold profiles NAME` shows which it has");
  }
  return plan;
}

// "90B", "8.03B", "406M": the count is written out in the second line.
std::string short_count(std::int64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e12) return fmt::format("{:.4g}T", value / 1e12);
  if (value >= 1e9) return fmt::format("{:.4g}B", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  return format_count(count);
}

class Answers {
 public:
  Answers(std::int64_t parameters, const FitResult& result, const plan::Profile& profile)
      : parameters_(parameters), result_(result), profile_(profile) {}

  std::vector<predict::Answer> all() {
    for (const int zero : profile_.zero_stages) shard(zero);
    if (result_.plan.optimizer == plan::Optimizer::adamw) {
      plan::Plan changed = result_.plan;
      changed.optimizer = plan::Optimizer::adamw_8bit;
      changed.first_moment = plan::MomentFormat::automatic;
      changed.second_moment = plan::MomentFormat::automatic;
      add("8-bit AdamW: moments in one byte each", std::move(changed));
    }
    return std::move(answers_);
  }

 private:
  void shard(int zero) {
    if (zero < std::max(result_.plan.zero, 1)) return;
    const plan::Recipe recipe = plan::recipe_of(result_.plan, profile_);
    const std::int64_t devices = least_devices(parameters_, recipe, profile_.optimizer_temporary,
                                               zero, predict::budget_of(result_.capacity));
    if (devices == 0 || (zero == result_.plan.zero && devices <= result_.plan.dp)) return;
    plan::Plan changed = result_.plan;
    changed.zero = zero;
    changed.dp = std::max(devices, result_.plan.dp);
    changed.global_batch = changed.dp;
    std::string change = fmt::format("ZeRO-{} over {} devices", zero, changed.dp);
    add(std::move(change), std::move(changed));
  }

  void add(std::string change, plan::Plan changed) {
    const predict::StateBytes state =
        predict::state_of_count(parameters_, plan::recipe_of(changed, profile_),
                                profile_.optimizer_temporary, changed.zero, changed.dp);
    predict::Answer answer;
    answer.change = std::move(change);
    answer.plan = std::move(changed);
    answer.saves_bytes = result_.state.at_step() - state.at_step();
    answer.then_class = state.at_step() > predict::budget_of(result_.capacity)
                            ? predict::VerdictClass::state_does_not_fit
                            : predict::VerdictClass::fits;
    if (answer.saves_bytes > Bytes(0)) answers_.push_back(std::move(answer));
  }

  std::int64_t parameters_;
  const FitResult& result_;
  const plan::Profile& profile_;
  std::vector<predict::Answer> answers_;
};

void judge(std::int64_t parameters, const plan::Profile& profile, FitResult& result) {
  const Bytes budget = predict::budget_of(result.capacity);
  const Bytes total = result.state.at_step();
  predict::Verdict& verdict = result.verdict;
  if (total <= budget) {
    verdict.explanation = fmt::format(
        "the state fits and leaves {} for activations; how much they take depends on the model, "
        "the "
        "batch and the sequence: name a MODEL to know",
        format_bytes(budget - total));
    return;
  }
  verdict.verdict = predict::VerdictClass::state_does_not_fit;
  verdict.missing_bytes = total - budget;
  verdict.shortfall.device = total - budget;
  if (total <= result.capacity.usable_bytes) verdict.reason = "headroom";
  verdict.explanation = fmt::format("the state alone takes {} of {}{}", format_bytes(total),
                                    format_bytes(budget), predict::headroom_text(result.capacity));
  if (result.plan.zero == 3 && result.plan.dp > 1) {
    verdict.explanation +=
        fmt::format(", although ZeRO-3 splits it over {} devices", result.plan.dp);
  } else {
    verdict.explanation +=
        ": more replicas do not help, each holds the same copy; split the state itself";
  }
  verdict.answers = Answers(parameters, result, profile).all();
}

}  // namespace

std::int64_t least_devices(std::int64_t parameters, const plan::Recipe& recipe,
                           double optimizer_temporary, int zero, Bytes budget) {
  const auto fits = [&](std::int64_t devices) {
    return predict::state_of_count(parameters, recipe, optimizer_temporary, zero, devices)
               .at_step() <= budget;
  };
  if (fits(1)) return 1;
  if (!fits(kMostDevices)) return 0;
  std::int64_t low = 1;  // does not fit
  std::int64_t high = kMostDevices;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

FitResult fit_of_count(const FitRequest& asked) {
  if (!asked.run.model.empty()) {
    throw Error("--parameters", "stands for a model, but a MODEL is named too",
                "leave out one of them");
  }
  if (asked.run.target.confidence) {
    throw Error("--confidence", "is about whole runs: of a bare state none was measured",
                "name a MODEL, or give --headroom");
  }
  const std::int64_t parameters = *asked.parameters;
  plan::PlanRequest request = asked.run.plan;
  refuse_shapes(request);
  FitResult result;
  const std::optional<Target> target = load_target(asked.run.target);
  if (target) result.notes = target->notes;
  for (const auto& [given, name] : {std::pair{request.precision.has_value(), "precision"},
                                    std::pair{request.optimizer.has_value(), "optimizer"},
                                    std::pair{request.profile.has_value(), "profile"}}) {
    if (!given) result.chosen.emplace_back(name);
  }
  fill_from_target(target, request, result.notes);
  const plan::Profile profile = plan::load_profile(*request.profile);

  result.name = short_count(parameters) + (parameters == 1 ? " parameter" : " parameters");
  result.counts.total = parameters;
  result.counts.active = parameters;
  result.plan = plan_of(request, profile);
  plan::check_moments(result.plan);
  result.kind = result.plan.dp > 1 ? PlanKind::data_parallel : PlanKind::one_device;
  result.device = target->cluster.device.name;
  result.capacity = capacity_of(*target, asked.run.target, result.plan.dp);
  const plan::Recipe recipe = plan::recipe_of(result.plan, profile);
  result.serving = predict::serving_bytes(parameters, recipe);
  result.state = predict::state_of_count(parameters, recipe, profile.optimizer_temporary,
                                         result.plan.zero, result.plan.dp);
  const std::int64_t devices = least_devices(parameters, recipe, profile.optimizer_temporary, 3,
                                             predict::budget_of(result.capacity));
  if (devices > 0 && profile.zero_stages.back() == 3) result.zero3_devices = devices;
  add_zero_note(result.plan, result.notes);
  judge(parameters, profile, result);
  return result;
}

}  // namespace fourhold::api

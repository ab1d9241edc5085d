#include "fourhold/api/duration_verdict.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/run_text.h"
#include "fourhold/api/search_request.h"
#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/predict/time.h"
#include "fourhold/report/duration.h"
#include "fourhold/search/deadline.h"
#include "fourhold/search/scaling_curve.h"

namespace fourhold::api {
namespace {

using predict::VerdictClass;

// More devices: the plan on them, the days it takes, and what else must be said.
struct MoreDevices {
  plan::Plan plan;
  double days = 0;
  std::optional<double> speedup_kept = std::nullopt;
  std::string condition = {};              // "", or ", with a global batch of ..."
  std::string how = " on different data";  // what the devices do
  std::string split = {};                  // " (tp 4, dp 64)" where it is another one
};

std::int64_t ranks_of_replica(const plan::Plan& plan) { return plan.tp * plan.pp * plan.cp; }

// The replicas that need no more than `days` at the speed each device has now.
std::int64_t replicas_at_this_speed(const plan::Plan& plan, double days, double deadline) {
  const double devices = static_cast<double>(plan.devices()) * days / deadline;
  return static_cast<std::int64_t>(
      std::ceil(devices / static_cast<double>(ranks_of_replica(plan)) - 1e-9));
}

// The plan over that many replicas, the batch grown where it is too small for them; nothing where
// they are more than a plan may have.
std::optional<MoreDevices> widened(const plan::Plan& plan, double days, double deadline) {
  constexpr auto kMost = static_cast<double>(plan::kCountField.range.most);
  if (static_cast<double>(plan.devices()) * days / deadline > kMost / 2) return std::nullopt;
  MoreDevices more{.plan = plan};
  // As many in each shard group.
  more.plan.dp = ceil_divide(replicas_at_this_speed(plan, days, deadline), plan.shard_groups) *
                 plan.shard_groups;
  const std::int64_t least = plan.micro_batch * more.plan.dp;
  more.plan.grad_accum = ceil_divide(plan.global_batch, least);
  more.plan.global_batch = least * more.plan.grad_accum;
  more.days = days * static_cast<double>(plan.dp) / static_cast<double>(more.plan.dp);
  if (more.plan.global_batch != plan.global_batch) {
    more.condition = fmt::format(", with a global batch of {} instead of {}",
                                 more.plan.global_batch, plan.global_batch);
  }
  return more;
}

std::optional<MoreDevices> searched(const LoadedRun& run, const TimeRequest& request,
                                    const plan::Plan& plan, double single_device_seconds) {
  plan::PlanRequest given = run.request;
  given.count = plan.devices();
  given.seq = plan.seq;
  given.global_batch = plan.global_batch;
  given.dp.reset();
  given.micro_batch.reset();
  given.grad_accum.reset();
  const auto tokens = static_cast<double>(*request.tokens);
  std::optional<search::ScalingPoint> point = search::devices_for_deadline(
      search_request_of(run, given), plan, single_device_seconds, tokens, request.deadline_days());
  if (!point || !point->plan) return std::nullopt;
  return MoreDevices{.plan = std::move(point->plan->plan),
                     .days = tokens / point->tokens_per_second / predict::kSecondsPerDay,
                     .speedup_kept = point->speedup_kept};
}

// Whatever the split, where flags or a plan file leave it open.
std::optional<MoreDevices> by_any_split(const TimeRequest& request, search::SearchRequest open,
                                        double single_device_seconds, std::string& said) {
  // Replicas that are given are those of the devices there are: more devices are more replicas.
  if (open.space.plan.dp) {
    open.space.plan.dp.reset();
    open.space.plan.micro_batch.reset();
    open.space.plan.grad_accum.reset();
  }
  const auto tokens = static_cast<double>(*request.tokens);
  const double steps = tokens / (static_cast<double>(*open.space.plan.global_batch) *
                                 static_cast<double>(*open.space.plan.seq));
  search::DeadlineAnswer found = search::fewest_devices(
      open, single_device_seconds, request.deadline_days() * predict::kSecondsPerDay / steps);
  if (!found.point) {
    if (found.searched_to > 0) {
      said += fmt::format("; no split over {} to {} devices meets it at this global batch",
                          format_count(found.searched_from), format_count(found.searched_to));
    }
    return std::nullopt;
  }
  MoreDevices more{.plan = std::move(found.point->plan->plan),
                   .days = tokens / found.point->tokens_per_second / predict::kSecondsPerDay,
                   .speedup_kept = found.point->speedup_kept};
  more.how.clear();
  more.split = fmt::format(" ({})", split_text(more.plan));
  return more;
}

// Where no count up to the batch is enough: a batch that grows with the devices, as predicted.
std::optional<MoreDevices> with_a_larger_batch(const LoadedRun& run, const TimeRequest& request,
                                               const plan::Plan& plan, double days) {
  constexpr int kTries = 24;
  constexpr double kProgress = 0.995;  // so that rounding to whole replicas cannot stand still
  double deadline = request.deadline_days();
  for (int i = 0; i < kTries; ++i) {
    std::optional<MoreDevices> more = widened(plan, days, deadline);
    if (!more) return std::nullopt;
    const TimeAnswer time = time_answer(run, request, more->plan);
    if (!time.run) return std::nullopt;
    more->days = time.run->days;
    more->speedup_kept = time.run->speedup_kept;
    if (more->days <= request.deadline_days()) return more;
    deadline *=
        kProgress * request.deadline_days() / more->days;  // what each device lost on the way
  }
  return std::nullopt;
}

std::optional<MoreDevices> more_devices(const LoadedRun& run, const TimeRequest& request,
                                        const plan::Plan& plan, const RunAnswer& now,
                                        const std::optional<search::SearchRequest>& open,
                                        std::string& said) {
  if (request.speed_is_given()) {
    std::optional<MoreDevices> more = widened(plan, now.days, request.deadline_days());
    if (more) more->condition += ", if each device keeps its speed";
    return more;
  }
  const double single = *now.speedup * now.days;  // days of one device
  const double step_days = now.days;
  const std::optional<double> step = step_seconds_of(run, plan);
  if (!step) return std::nullopt;
  const double single_device_seconds = *step * single / step_days;
  if (open) {
    if (auto found = by_any_split(request, *open, single_device_seconds, said)) return found;
  }
  if (auto found = searched(run, request, plan, single_device_seconds)) return found;
  return with_a_larger_batch(run, request, plan, now.days);
}

std::string kept_text(const MoreDevices& more) {
  if (!more.speedup_kept) return "";
  return fmt::format(" and keep {} of the speed-up", report::percent_text(*more.speedup_kept));
}

}  // namespace

void judge_duration(const LoadedRun& run, const TimeRequest& request, const plan::Plan& plan,
                    const TimeAnswer& time, predict::Verdict& verdict,
                    const std::optional<search::SearchRequest>& open) {
  if (verdict.verdict != VerdictClass::fits || !time.run) return;
  const double deadline = request.deadline_days();
  if (time.run->days <= deadline) return;
  verdict.verdict = VerdictClass::fits_but_takes_too_long;
  verdict.explanation +=
      fmt::format(": nothing is broken, but {} tokens take {} and {} is {}",
                  format_count(*request.tokens), report::days_text(time.run->days),
                  request.deadline ? "the deadline" : "the limit without --deadline",
                  report::days_text(deadline));
  const std::optional<MoreDevices> more =
      more_devices(run, request, plan, *time.run, open, verdict.explanation);
  if (!more) {
    verdict.explanation += "; no number of replicas of this split that was tried is enough";
    return;
  }
  const std::int64_t devices = more->plan.devices();
  verdict.explanation +=
      more->split.empty()
          ? fmt::format("; more devices, each on different data: {} of them take {}{}{}",
                        format_count(devices), report::days_text(more->days), kept_text(*more),
                        more->condition)
          : fmt::format("; the fewest devices that meet it, by any split: {} take {}{}{}",
                        format_count(devices), report::days_text(more->days), kept_text(*more),
                        more->split);

  predict::Answer answer;
  answer.change = fmt::format("{} devices{}{}: {}{}", format_count(devices), more->how,
                              more->condition, report::days_text(more->days), more->split);
  answer.plan = more->plan;
  const predict::MemoryPrediction before =
      predict::predict_memory(run.model, plan, run.profile, predict::WithLedger::no);
  const predict::MemoryPrediction after =
      predict::predict_memory(run.model, more->plan, run.profile, predict::WithLedger::no);
  answer.saves_bytes = before.needed_bytes - after.needed_bytes;
  answer.then_class =
      predict::classify(after, capacity_of(*run.target, run.target_request, devices));
  verdict.answers.push_back(std::move(answer));
}

}  // namespace fourhold::api

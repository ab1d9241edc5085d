#include "fourhold/api/baselines.h"

#include <fmt/format.h>

#include "fourhold/api/run_time.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/duration.h"

namespace fourhold::api {
namespace {

using predict::VerdictClass;

plan::Plan unsplit(const LoadedRun& run, const plan::Plan& like, std::int64_t replicas) {
  plan::Plan plan = like;
  plan.tp = plan.pp = plan.vpp = plan.cp = plan.ep = 1;
  plan.sp = false;
  plan.dp = replicas;
  plan.zero = run.profile.zero_stages.front();
  plan.shard_groups = 1;
  plan.micro_batch = 1;
  if (plan.global_batch % replicas != 0) plan.global_batch = replicas;
  plan.grad_accum = plan.global_batch / replicas;
  plan.recompute = plan::recompute_from_string("none");
  plan.schedule = plan::ScheduleKind::one_f_one_b;
  plan.offload = plan::Offload::none;
  plan.activation_offload = plan::ActivationOffload::none;
  plan.layers_per_stage = {run.model.layer_count()};
  return plan;
}

Baseline baseline(std::string_view kind, const LoadedRun& run, const TimeRequest& request,
                  plan::Plan plan) {
  Baseline out{.kind = kind, .plan = std::move(plan)};
  const predict::Capacity capacity =
      capacity_of(*run.target, run.target_request, out.plan.devices());
  const predict::MemoryPrediction memory =
      predict::predict_memory(run.model, out.plan, run.profile, predict::WithLedger::no);
  const Bytes usable = predict::budget_of(capacity);
  const std::string of = format_bytes(usable) + predict::headroom_text(capacity);
  out.verdict = predict::classify(memory, capacity);
  if (out.verdict != VerdictClass::fits) {
    out.missing_bytes = (memory.needed_bytes - usable).count();
    const Bytes state = Bytes(memory.worst().state_bytes);
    const bool by_state = out.verdict == VerdictClass::state_does_not_fit;
    out.why = by_state
                  ? fmt::format("the state of a full copy is {} of {}", format_bytes(state), of)
                  : fmt::format("state and activations need {} of {}",
                                format_bytes(memory.needed_bytes), of);
    if (by_state && out.plan.dp > 1) out.why += " on every device, however many there are";
    return out;
  }
  const TimeAnswer time = time_answer(run, request, out.plan);
  out.why = fmt::format("needs {} of {}", format_bytes(memory.needed_bytes), of);
  if (time.step) {
    out.why += "; " +
               report::rate_text(time.step->tokens_per_second_per_device *
                                 static_cast<double>(out.plan.devices())) +
               " tokens/s";
  }
  if (time.run) {
    out.why += ", " + report::days_text(time.run->days);
    if (time.run->days > request.deadline_days()) {
      out.verdict = VerdictClass::fits_but_takes_too_long;
    }
  }
  return out;
}

}  // namespace

std::vector<Baseline> baselines(const LoadedRun& run, const TimeRequest& time,
                                const plan::Plan& like) {
  std::vector<Baseline> list;
  list.push_back(baseline("one_device", run, time, unsplit(run, like, 1)));
  list.push_back(baseline("data_parallel", run, time, unsplit(run, like, like.devices())));
  return list;
}

}  // namespace fourhold::api

#include "fourhold/api/run_time.h"

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/predict/model_flops.h"
#include "fourhold/predict/rates.h"
#include "fourhold/predict/time.h"

namespace fourhold::api {
namespace {

constexpr double kHoursPerDay = 24;

hardware::Cluster cluster_of(const LoadedRun& run, const plan::Plan& plan) {
  hardware::Cluster cluster = run.target->cluster;
  cluster.count = plan.devices();
  return cluster;
}

// The peak MFU is a share of; absent where the device has none.
std::optional<double> peak_flops_of(const LoadedRun& run, const plan::Plan& plan) {
  try {
    return predict::rates_of(run.target->cluster.device, run.profile,
                             plan::recipe_of(plan, run.profile).compute)
        .peak_flops_per_second;
  } catch (const Error&) {
    return std::nullopt;
  }
}

double step_tokens(const plan::Plan& plan) {
  return static_cast<double>(plan.global_batch) * static_cast<double>(plan.seq);
}

StepAnswer predicted_step(const predict::TimePrediction& time) {
  return {.step_seconds = time.step_seconds,
          .tokens_per_second_per_device = time.tokens_per_second_per_device,
          .tflops_per_device = time.tflops_per_device,
          .mfu = time.mfu,
          .hfu = time.hfu,
          .parts = time.parts};
}

// The step at a speed the user gives.
StepAnswer given_step(const LoadedRun& run, const TimeRequest& request, const plan::Plan& plan,
                      const std::optional<StepAnswer>& predicted) {
  const double flops_per_token =
      predict::model_flops_per_sequence(run.model, plan.seq, plan.prediction_layers) /
      static_cast<double>(plan.seq);
  const std::optional<double> peak = peak_flops_of(run, plan);
  const auto devices = static_cast<double>(plan.devices());
  StepAnswer step;
  if (request.mfu) {
    if (!peak) {
      throw Error("--mfu", "is a share of a peak that the device does not have",
                  "name a device with rates, or give --tokens-per-second");
    }
    step.tokens_per_second_per_device = *request.mfu * *peak / flops_per_token;
  } else {
    step.tokens_per_second_per_device = *request.tokens_per_second / devices;
  }
  step.step_seconds = step_tokens(plan) / devices / step.tokens_per_second_per_device;
  const double flops = step.tokens_per_second_per_device * flops_per_token;
  step.tflops_per_device = flops / 1e12;
  if (peak) step.mfu = flops / *peak;
  // What recomputation adds does not depend on the speed.
  if (step.mfu && predicted && predicted->mfu && predicted->hfu) {
    step.hfu = *step.mfu * *predicted->hfu / *predicted->mfu;
  }
  return step;
}

RunAnswer run_answer(const LoadedRun& run, const TimeRequest& request, const plan::Plan& plan,
                     const StepAnswer& step, std::optional<predict::SingleDevice> single) {
  const auto tokens = static_cast<double>(*request.tokens);
  const std::optional<double> price = price_of(run, request);
  RunAnswer answer;
  answer.tokens = *request.tokens;
  answer.deadline_days = request.deadline_days();
  answer.deadline_is_given = request.deadline.has_value();
  answer.days = tokens / step_tokens(plan) * step.step_seconds / predict::kSecondsPerDay;
  if (price) {
    answer.cost_usd = *price * static_cast<double>(plan.devices()) * answer.days * kHoursPerDay;
  }
  if (request.speed_is_given()) return answer;
  if (!single) {
    single = predict::single_device(run.model, plan, run.profile, cluster_of(run, plan));
  }
  const predict::RunPrediction whole = predict::predict_run(
      {.tokens = tokens, .price_usd_per_device_hour = price}, plan, step.step_seconds, *single);
  answer.single_device_days = whole.single_device_days;
  answer.speedup = whole.speedup;
  answer.speedup_kept = whole.speedup_kept;
  return answer;
}

}  // namespace

void check(const TimeRequest& request) {
  if (request.mfu && request.tokens_per_second) {
    throw Error("--mfu", "and --tokens-per-second both give the speed", "give one of them");
  }
  if (request.price && !request.tokens) {
    throw Error("--price", "is of a run whose length is not known",
                "add its tokens, for example --tokens 1e12");
  }
  if (request.deadline && !request.tokens) {
    throw Error("--deadline", "needs to know how long the run is",
                "add its tokens, for example --tokens 1e12");
  }
}

TimeAnswer time_answer(const LoadedRun& run, const TimeRequest& request, const plan::Plan& plan,
                       std::optional<predict::SingleDevice> single) {
  TimeAnswer answer;
  if (!run.target) {
    answer.why_not = "no device is named";
    return answer;
  }
  try {
    answer.step =
        predicted_step(predict::predict_time(run.model, plan, run.profile, cluster_of(run, plan)));
  } catch (const Error& error) {
    answer.why_not = error.where() + " " + error.what();
  }
  if (request.speed_is_given()) answer.step = given_step(run, request, plan, answer.step);
  if (answer.step && request.tokens) {
    answer.run = run_answer(run, request, plan, *answer.step, single);
  }
  return answer;
}

std::optional<double> predicted_seconds(const TimeAnswer& time) {
  if (!time.step || !time.step->parts) return std::nullopt;
  return time.step->step_seconds;
}

std::optional<double> step_seconds_of(const LoadedRun& run, const plan::Plan& plan) {
  try {
    return predict::predict_time(run.model, plan, run.profile, cluster_of(run, plan)).step_seconds;
  } catch (const Error&) {
    return std::nullopt;  // the device lacks a rate or a link of this plan
  }
}

std::optional<double> price_of(const LoadedRun& run, const TimeRequest& request) {
  if (request.price) return request.price;
  return run.target ? run.target->cluster.device.price_usd_per_hour : std::nullopt;
}

void add_time_notes(const LoadedRun& run, const TimeRequest& request, const TimeAnswer& time,
                    std::vector<std::string>& notes) {
  if (!run.target) return;
  if (request.speed_is_given()) {
    notes.push_back(fmt::format(
        "the speed is the one that {} gives, not predicted: the step's parts and the speed-up over "
        "one device are not stated",
        request.mfu ? "--mfu" : "--tokens-per-second"));
  } else if (!time.step) {
    notes.push_back("time is not predicted: " + time.why_not);
  }
  const std::optional<double> price = price_of(run, request);
  if (time.run && !request.price && price) {
    notes.push_back(fmt::format("cost is at the list price of {}: ${:.2f} per device and hour",
                                run.target->cluster.device.name, *price));
  }
}

}  // namespace fourhold::api

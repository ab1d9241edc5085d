#include "fourhold/api/time_text.h"

#include <string_view>

#include <fmt/format.h>

#include "fourhold/api/run_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/duration.h"
#include "fourhold/report/step_bars.h"
#include "fourhold/report/text.h"

namespace fourhold::api {

std::string pace_text(const TimeAnswer& time) {
  if (!time.step) return "time not known";
  std::string text = report::seconds_text(time.step->step_seconds) + " per step";
  if (time.run) text += ", " + report::days_text(time.run->days);
  return text;
}

std::string days_of_limit_text(const RunAnswer& run) {
  constexpr std::string_view kUnit = " days";
  const std::string takes = report::days_text(run.days);
  std::string limit = report::days_text(run.deadline_days);
  if (takes.ends_with(kUnit) && limit.ends_with(kUnit)) limit.resize(limit.size() - kUnit.size());
  return takes + " of " + limit;
}

std::string deadline_lead(const TimeAnswer& time) {
  if (!time.run || time.run->deadline_is_given) return "Change first: ";
  return fmt::format("For {} (--deadline sets another): ",
                     report::days_text(time.run->deadline_days));
}

std::string speed_lines(const TimeAnswer& time, const plan::Plan& plan,
                        const report::Screen& screen) {
  if (!time.step) return {};
  const StepAnswer& step = *time.step;
  const auto devices = static_cast<double>(plan.devices());
  std::string speed =
      fmt::format("{} tokens/s", report::rate_text(step.tokens_per_second_per_device * devices));
  if (plan.devices() > 1) {
    speed += fmt::format(" ({} per device)", report::rate_text(step.tokens_per_second_per_device));
  }
  speed += fmt::format(", {:.0f} TFLOP/s per device", step.tflops_per_device);
  if (step.mfu) speed += ", MFU " + report::percent_text(*step.mfu);
  if (step.hfu && *step.hfu > *step.mfu * 1.0005) {
    speed += fmt::format(" ({} with what is recomputed)", report::percent_text(*step.hfu));
  }
  std::string text = report::wrapped(speed, screen.columns, "Speed   ");
  if (!time.run) return text;
  const RunAnswer& run = *time.run;
  std::string whole =
      fmt::format("{} tokens in {}", format_count(run.tokens), report::days_text(run.days));
  if (run.cost_usd) whole += ", " + report::dollars_text(*run.cost_usd);
  if (run.speedup_kept && plan.devices() > 1) {
    whole += fmt::format(
        "; one device with room for everything would take {}: {} devices are {:.1f} times as fast, "
        "{} of the ideal",
        report::days_text(*run.single_device_days), format_count(plan.devices()), *run.speedup,
        report::percent_text(*run.speedup_kept));
  }
  if (!run.deadline_is_given) {
    whole +=
        fmt::format("; without --deadline {} are the limit", report::days_text(run.deadline_days));
  }
  return text + report::wrapped(whole, screen.columns, "Run     ");
}

std::string parts_text(const TimeAnswer& time, const report::Screen& screen) {
  if (!time.step || !time.step->parts) return {};
  return title_text("One step: " + report::seconds_text(time.step->step_seconds), screen) +
         report::draw_step(*time.step->parts, screen);
}

}  // namespace fourhold::api

// What is asked of a run's time: its tokens, when it must be done, what a device costs, and how
// fast it is where the user knows better than the model.
#pragma once

#include <cstdint>
#include <optional>

#include "fourhold/api/defaults.h"
#include "fourhold/api/option.h"

namespace fourhold::api {

struct TimeRequest {
  std::optional<std::int64_t> tokens{};       // of the whole run
  std::optional<double> deadline{};           // days
  std::optional<double> price{};              // US dollars per device and hour
  std::optional<double> mfu{};                // instead of the predicted one
  std::optional<double> tokens_per_second{};  // of all devices together; likewise

  [[nodiscard]] bool speed_is_given() const { return mfu || tokens_per_second; }
  [[nodiscard]] double deadline_days() const { return deadline.value_or(kUsualDeadlineDays); }
};

template <class Visitor>
void visit_time_options(Visitor&& visit, TimeRequest& request) {
  constexpr NumberRange kPositive{1e-9, 1e15};
  visit(Option{{"tokens",
                "tokens of the whole run, such as 2e12: gives days and cost",
                {1, std::int64_t{1} << 60}},
               OptionGroup::run,
               ValueKind::number},
        request.tokens);
  visit(Option{{"deadline", "days the run may take; 120 if not given", {}, kPositive},
               OptionGroup::run,
               ValueKind::number},
        request.deadline);
  visit(Option{{"price",
                "US dollars per device and hour, instead of the device's list price",
                {},
                {0, 1e9}},
               OptionGroup::run,
               ValueKind::number},
        request.price);
  visit(Option{{"mfu",
                "model FLOPs utilisation to count with instead of the predicted one, such as 40%",
                {},
                {1e-6, 1}},
               OptionGroup::run,
               ValueKind::number},
        request.mfu);
  visit(Option{{"tokens_per_second",
                "speed of all devices together to count with, such as a measured one",
                {},
                kPositive},
               OptionGroup::run,
               ValueKind::number},
        request.tokens_per_second);
}

// Throws Error for two speeds, and for a deadline or a price of a run whose tokens are not given.
void check(const TimeRequest& request);

}  // namespace fourhold::api

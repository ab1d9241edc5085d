#include "apps/engine/memory_checks.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/engine/engine_plan.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::engine_app {
namespace {

bool cures(const predict::Answer& answer) {
  return answer.then_class == predict::VerdictClass::fits || answer.then_change.has_value();
}

// The verdict in words, for an Error's hint: the answers one by one, those that cure first.
std::string answers_of(const predict::Verdict& verdict) {
  std::vector<predict::Answer> answers = verdict.answers;
  std::stable_partition(answers.begin(), answers.end(), cures);
  std::string text;
  for (const predict::Answer& answer : answers) {
    if (!is_engine_plan(answer.plan)) continue;
    std::string then = cures(answer) ? ", then it fits" : "";
    if (answer.then_change) then += " with " + answer.then_change->change;
    text += fmt::format("{}{} (saves {}{})", text.empty() ? "try " : "; ", answer.change,
                        format_bytes(answer.saves_bytes), then);
  }
  return text.empty() ? "a smaller model, or a machine with more memory" : text;
}

// "the state does not fit".
std::string words_of(predict::VerdictClass verdict) {
  std::string text = "the " + std::string(predict::to_string(verdict));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// "as it is, it needs --memory 357564416B (341.00 MiB)".
std::string needed_text(const MemoryLimit& limit, Bytes predicted) {
  const Bytes needed = predicted + kOutsideAllowance;
  const std::string size = format_bytes(needed);
  return limit.is_asked ? fmt::format("as it is, it needs --memory {}B ({})", needed.count(), size)
                        : fmt::format("as it is, it needs {} that are free", size);
}

}  // namespace

MemoryLimit memory_limit(std::optional<Bytes> asked, Bytes available) {
  if (asked && *asked <= available) return {*asked, true};
  return {available, false};
}

void require_allowance(const MemoryLimit& limit, Bytes predicted) {
  if (limit.bytes > kOutsideAllowance) return;
  throw Error(limit.where(),
              fmt::format("{} are all kept for the process itself, whose code, libraries and files "
                          "may take {}: nothing is left for the run, which takes {}",
                          format_bytes(limit.bytes), format_bytes(kOutsideAllowance),
                          format_bytes(predicted)),
              needed_text(limit, predicted), ExitCode::answer_is_no);
}

void require_memory(const api::LoadedRun& run, const api::PlannedRun& planned,
                    const MemoryLimit& limit) {
  const Bytes predicted = planned.memory.reserved_bytes;
  require_allowance(limit, predicted);
  const predict::Capacity capacity{.usable_bytes = limit.bytes - kOutsideAllowance};
  const predict::Verdict verdict =
      predict::decide(run.model, planned.plan, run.profile, planned.memory, capacity);
  if (verdict.verdict == predict::VerdictClass::fits) return;
  throw Error(limit.where(),
              fmt::format("{}: the run takes {}, and {} is left of {} beside what is kept for the "
                          "rest of the process ({})",
                          words_of(verdict.verdict), format_bytes(predicted),
                          format_bytes(capacity.usable_bytes), format_bytes(limit.bytes),
                          format_bytes(kOutsideAllowance)),
              fmt::format("{}; {}", answers_of(verdict), needed_text(limit, predicted)),
              ExitCode::answer_is_no);
}

}  // namespace fourhold::engine_app

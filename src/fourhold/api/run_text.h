// Sentences and tables about a predicted run that verbs share. Every text ends its lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/plan/plan.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/verdict.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

// What a run is about: "llama-3.1-8b on 8 x rtx-4090", "gpt2 on one device".
struct Subject {
  std::string model;
  std::string device;  // "" where none is named
  std::int64_t devices = 1;
};
// Shortened to at most `columns`.
[[nodiscard]] std::string subject_text(const Subject& subject, int columns);

// "does not fit: state 119.66 GiB, usable 23.51 GiB", and the same in fewer words.
struct Sizes {
  Bytes state;
  Bytes needed;  // on the device, with everything
  predict::Capacity capacity;
};
struct Wording {
  std::string full;
  std::string brief;
};
[[nodiscard]] Wording verdict_wording(const predict::Verdict& verdict, const Sizes& sizes);
// How the verdict is painted.
[[nodiscard]] report::Ink verdict_ink(const predict::Verdict& verdict);
// "SUBJECT: VERDICT" in one line: in fewer words, then shortened, where it would not fit.
[[nodiscard]] std::string headline(const Subject& subject, const Wording& wording, report::Ink ink,
                                   const report::Screen& screen);

// The memory the verdict is about, and what the plan holds of it: "43.84 GiB of 79.10 GiB", or with
// " of host memory" behind it.
[[nodiscard]] std::string held_text(const predict::Verdict& verdict,
                                    const predict::MemoryPrediction& memory,
                                    const predict::Capacity& capacity);
// "1.50 GiB of state, 18.00 MiB of activations and 16.00 MiB of pinned buffers": what a device's
// share of host memory holds, without what is 0; "" where that is all.
[[nodiscard]] std::string on_host_text(const predict::MemoryPrediction& memory);
// "device" or "host": which memory is short.
[[nodiscard]] std::string_view short_memory_text(const predict::Verdict& verdict);

// "Change first: ZeRO-3 over 8 devices; saves 104.70 GiB, then it fits." The first answer that
// cures, else the one that saves most. One line, behind `lead`.
[[nodiscard]] std::string first_answer_text(const predict::Verdict& verdict,
                                            const report::Screen& screen,
                                            const std::string& lead = "Change first: ");

// The table of answers, with a title; "" where there are none.
[[nodiscard]] std::string answers_text(const predict::Verdict& verdict,
                                       const report::Screen& screen);

// What a search found that found no plan that fits.
inline constexpr std::string_view kNoneFits = "none fits: the nearest to it";

// How the fields that nobody gave got their values.
struct ChosenHow {
  std::vector<std::string>
      searched{};  // of them those that a search found; the others are defaults
  std::string_view search = "the fastest that fits, as plan finds it";
  std::string_view defaults = "so chosen here";
};
// "Plan: tp 8 (sp), dp 4 ..." and which of its fields were chosen here, and how.
[[nodiscard]] std::string plan_text(const plan::Plan& plan, const std::vector<std::string>& chosen,
                                    const report::Screen& screen, const ChosenHow& how = {});

// What splits a plan, without what is off: "tp 8, pp 16, dp 128, zero 1, micro-batch 1 x 16,
// recompute full"; in brief "tp 8 pp 16 dp 128 zero 1, batch 1 x 16, full".
enum class SplitWords : std::uint8_t { whole, brief };
[[nodiscard]] std::string split_text(const plan::Plan& plan, SplitWords words = SplitWords::whole);

// "Title" painted, and a line break.
[[nodiscard]] std::string title_text(const std::string& title, const report::Screen& screen);

}  // namespace fourhold::api

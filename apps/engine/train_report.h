// What a finished training run says: predicted beside measured, for people and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/engine/expected_speed.h"
#include "fourhold/base/json.h"
#include "fourhold/engine/train/train_run.h"
#include "fourhold/report/screen.h"

namespace fourhold::engine_app {

// What a run's figures are set against.
struct RunFrame {
  std::int64_t steps = 0;
  std::int64_t tokens_per_step = 0;
  std::int64_t parameters = 0;  // of the whole model
  std::string precision;
  std::optional<ExpectedSpeed> expected;
  std::optional<double> one_rank_seconds = std::nullopt;  // of a step on one rank, as it said
  std::string out;  // the run's folder, "" where nothing is kept
};

// Of a run that is wholly decided, without what is still to be measured.
[[nodiscard]] RunFrame frame_of(const engine::TrainSetup& setup);

// Whether anything was measured.
[[nodiscard]] inline bool has_steps(const engine::TrainResult& result) {
  return result.last_step >= result.first_step;
}

// "fourhold.train/1" (docs/json.md).
[[nodiscard]] json::Value to_json(const engine::TrainResult& result, const RunFrame& frame);
// The first three lines: whether the bytes agree, what the loss did, how fast it was.
[[nodiscard]] std::string to_text(const engine::TrainResult& result, const RunFrame& frame,
                                  const report::Screen& screen);
// One line of the log, without its end.
[[nodiscard]] std::string line_text(const engine::TrainLine& line, const RunFrame& frame);
// The same for log.jsonl.
[[nodiscard]] json::Value line_json(const engine::TrainLine& line, const RunFrame& frame);

}  // namespace fourhold::engine_app

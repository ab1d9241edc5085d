// Where a run stands beside its tensors: what a resumed run needs to go on as if it had not
// stopped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/model/model_config.h"

namespace fourhold::engine {

struct RunState {
  std::int64_t step = 0;  // steps done
  std::int64_t seed = 0;  // of all counter-based random numbers, which need no other state
  std::int64_t tokens_seen = 0;
  std::string precision;       // plan::kPrecisionNames
  std::string optimizer;       // plan::kOptimizerNames
  std::string data;            // its fingerprint; "" where the state does not say
  json::Value data_position;   // of the data's own making
  std::string tokenizer;       // that made the data, by its name; empty: not known
  json::Value schedule;        // the learning rate's
  json::Value plan;            // the whole plan, as it is printed
  json::Value versions;        // what wrote this
  std::vector<double> losses;  // the last ones, oldest first
};

// "fourhold.run/1". Numbers read back as the same bits; Error for a loss that is not finite.
[[nodiscard]] std::string write_run_state(const RunState& state);
// Error with line or field for what is no such text.
[[nodiscard]] RunState parse_run_state(std::string_view text, const std::string& where);

// What a run that resumes is going to do.
struct ResumedRun {
  const model::ModelConfig& model;
  std::string precision;
  std::string optimizer;
  std::string data;  // fingerprint
};
// Error saying everything that differs and what can be done instead, unless a run saved with
// `saved` and `saved_model` can go on as `run`. `where` is the checkpoint's folder.
void check_resumable(const RunState& saved, const model::ModelConfig& saved_model,
                     const ResumedRun& run, const std::string& where);

}  // namespace fourhold::engine

// A run that generates text: from weights and a prompt to the last token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fourhold/engine/data/tokenizer.h"
#include "fourhold/engine/sample/choose_token.h"
#include "fourhold/ledger/compare.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/numerics.h"
#include "fourhold/plan/lower_sample.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::engine {

// Everything a run depends on; isa and threads of the plan are this machine's.
struct SampleSetup {
  model::ModelConfig model;
  model::Numerics numerics;
  plan::Plan plan;  // sample_plan's
  plan::Profile profile;
  std::string weights;  // folder or file of safetensors
  std::shared_ptr<data::Tokenizer> tokenizer;
  std::vector<data::TokenId> prompt;       // at least one
  std::vector<data::TokenId> stop_tokens;  // what ends a text
  std::int64_t tokens = 1;                 // most to generate
  ChoiceRule rule;
};

// The plan of one sequence that reads `prompt` tokens and generates `tokens`, of which the last is
// not read again.
[[nodiscard]] plan::Plan sample_plan(const model::ModelConfig& model, plan::Precision precision,
                                     std::int64_t prompt, std::int64_t tokens);
// All tokens of a prompt but the last go through the model together.
[[nodiscard]] plan::SampleSizes sample_sizes(std::int64_t prompt);

// Who watches a run. What `text` throws ends it; the others may not throw.
struct SampleObserver {
  std::function<void(const std::string& note)> note;
  std::function<void(const std::string& text)> text;  // as it comes
  std::function<bool()> stop_asked;                   // asked before each token
};

enum class SampleEnd : std::uint8_t { tokens, end_of_text, signal };

struct SampleResult {
  ledger::Ledger predicted;
  ledger::Ledger measured;
  ledger::Comparison comparison;
  std::string text;  // without the prompt
  std::vector<data::TokenId> tokens;
  SampleEnd end = SampleEnd::tokens;
  double prompt_seconds = 0;
  double token_seconds = 0;  // of all tokens together
  std::vector<std::string> kernels;

  [[nodiscard]] double tokens_per_second() const {
    return token_seconds > 0 ? static_cast<double>(tokens.size()) / token_seconds : 0;
  }
};

// Throws Error for weights that do not fit the model, memory that is not there, and logits that are
// not finite. Where nothing was generated (a signal came first), nothing is measured.
[[nodiscard]] SampleResult sample(const SampleSetup& setup, const SampleObserver& observer);

}  // namespace fourhold::engine

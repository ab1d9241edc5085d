#include "apps/engine/sample_setup.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/engine/machine.h"
#include "apps/engine/memory_checks.h"
#include "apps/engine/sample_source.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/train/process_memory.h"
#include "fourhold/ledger/placement.h"
#include "fourhold/plan/isa.h"
#include "fourhold/predict/sample_ledger.h"

namespace fourhold::engine_app {
namespace {

namespace data = engine::data;

constexpr std::int64_t kTokens = 200;
constexpr double kTemperature = 0.8;

std::vector<data::TokenId> prompt_ids(data::Tokenizer& tokenizer, const std::string& prompt) {
  std::vector<data::TokenId> ids = tokenizer.prefix();
  const std::vector<data::TokenId> text = tokenizer.encode(prompt);
  ids.insert(ids.end(), text.begin(), text.end());
  if (!ids.empty()) return ids;
  // In training data a text begins behind the end of another.
  if (const auto end = tokenizer.end_of_text()) return {*end};
  throw Error("--prompt", "is missing, and the tokenizer knows no token that a text begins with",
              "give a text to go on from");
}

// Tokens a run may read and generate together; no value where the model has no limit. The last one
// that is generated is not read.
std::optional<std::int64_t> most_tokens(const model::ModelConfig& model) {
  if (model.position == model::PositionKind::learned) {
    const std::int64_t rows = model.position_rows;
    return 1 + (model.max_positions > 0 ? std::min(model.max_positions, rows) : rows);
  }
  if (model.max_positions > 0) return 1 + model.max_positions;
  return std::nullopt;
}

std::int64_t tokens_of(const api::SampleRequest& request, const model::ModelConfig& model,
                       std::int64_t prompt) {
  const std::optional<std::int64_t> most = most_tokens(model);
  if (!most) return request.tokens.value_or(kTokens);
  const std::int64_t positions = *most - 1;
  if (prompt > positions) {
    throw Error("--prompt",
                fmt::format("has {}, the model has {} positions", counted(prompt, "token"),
                            format_count(positions)),
                "shorten the prompt");
  }
  const std::int64_t room = *most - prompt;
  const std::int64_t tokens = request.tokens.value_or(std::min(kTokens, room));
  if (tokens > room) {
    throw Error("--tokens",
                fmt::format("{} after a prompt of {} are more than the model's {} positions",
                            format_count(tokens), format_count(prompt), format_count(positions)),
                fmt::format("ask for at most {}", room));
  }
  return tokens;
}

plan::Precision precision_of(const api::SampleRequest& request, const std::string& weights) {
  if (request.precision) {
    return *request.precision == api::SamplePrecision::fp32 ? plan::Precision::fp32
                                                            : plan::Precision::bf16;
  }
  return stored_precision(weights) == StoredPrecision::bf16 ? plan::Precision::bf16
                                                            : plan::Precision::fp32;
}

void require_memory(const api::SampleRequest& request, plan::Precision precision, Bytes predicted) {
  const MemoryLimit limit = memory_limit(request.memory, engine::available_memory());
  require_allowance(limit, predicted);
  const Bytes needed = predicted + kOutsideAllowance;
  if (needed <= limit.bytes) return;
  throw Error(
      limit.where(),
      fmt::format("the run takes {}, and {} is left of {} beside what is kept for the rest "
                  "of the process ({})",
                  format_bytes(predicted), format_bytes(limit.bytes - kOutsideAllowance),
                  format_bytes(limit.bytes), format_bytes(kOutsideAllowance)),
      fmt::format("fewer --tokens{}; as it is, it needs --memory {}B",
                  precision == plan::Precision::fp32 ? " or --precision bf16" : "", needed.count()),
      ExitCode::answer_is_no);
}

// Ids without a text are never chosen, so that the tokenizer's count is the most there are.
void require_tokens_to_choose(const api::SampleRequest& request, std::int64_t tokens) {
  if (!request.top_k || *request.top_k <= tokens) return;
  throw Error("--top-k",
              fmt::format("{} tokens are more than the {} of the tokenizer",
                          format_count(*request.top_k), format_count(tokens)),
              fmt::format("give at most {}, or leave it out to choose among all", tokens));
}

// What flags say, else what the model is published with (said in a note), else the rule of ours.
class Choice {
 public:
  Choice(const api::SampleRequest& request, const engine::GenerationConfig& published)
      : request_(request), published_(published) {
    // The published rule draws nothing; who asks for a way of drawing wants to draw.
    const bool asks =
        request.temperature || request.top_k || request.top_p || request.seed.has_value();
    const bool draws = published.draws.value_or(true) || asks;
    rule_.temperature = request.temperature.value_or(kTemperature);
    if (!draws) {
      rule_.temperature = 0;
      add("do_sample false");
    } else if (!request.temperature && published.temperature) {
      rule_.temperature = *published.temperature;
      add(fmt::format("temperature {}", *published.temperature));
    }
    refuse_options_without_effect();
    if (rule_.temperature != 0) limit();
    rule_.seed = static_cast<std::uint64_t>(request.seed.value_or(1));
  }

  [[nodiscard]] const engine::ChoiceRule& rule() const { return rule_; }
  void add_notes(std::vector<std::string>& notes) const {
    if (!taken_.empty()) {
      notes.push_back("generation_config.json says " + taken_ +
                      ": taken where no flag says otherwise");
    }
    if (published_.not_applied.empty()) return;
    notes.push_back(fmt::format("generation_config.json sets {}, which is not applied",
                                fmt::join(published_.not_applied, ", ")));
  }

 private:
  void add(const std::string& text) { taken_ += (taken_.empty() ? "" : ", ") + text; }

  // Without a temperature the likeliest token is taken: nothing is drawn.
  void refuse_options_without_effect() const {
    if (rule_.temperature != 0) return;
    const auto refuse = [this](bool given, const char* flag) {
      if (!given) return;
      throw Error(flag,
                  request_.temperature
                      ? "has no effect: --temperature 0 takes the likeliest token"
                      : "has no effect: generation_config.json says temperature 0, which takes the "
                        "likeliest token",
                  request_.temperature ? "leave one of the two out" : "give a --temperature too");
    };
    refuse(request_.top_k.has_value(), "--top-k");
    refuse(request_.top_p.has_value(), "--top-p");
    refuse(request_.seed.has_value(), "--seed");
  }

  void limit() {
    rule_.top_k = request_.top_k.value_or(published_.top_k.value_or(0));
    rule_.top_p = request_.top_p.value_or(published_.top_p.value_or(1));
    if (!request_.top_k && rule_.top_k > 0) add(fmt::format("top_k {}", rule_.top_k));
    if (!request_.top_p && published_.top_p) add(fmt::format("top_p {}", rule_.top_p));
  }

  const api::SampleRequest& request_;
  const engine::GenerationConfig& published_;
  engine::ChoiceRule rule_;
  std::string taken_;
};

}  // namespace

PreparedSampling prepare_sampling(const api::SampleRequest& request) {
  SampleSource source = open_sample_source(request.model);
  const Choice choice(request, source.generation);
  PreparedSampling prepared;
  engine::SampleSetup& setup = prepared.setup;
  setup.tokenizer = open_source_tokenizer(source, request.tokenizer);
  require_tokens_to_choose(request, setup.tokenizer->vocabulary_size());
  setup.prompt = prompt_ids(*setup.tokenizer, request.prompt);
  const auto prompt = static_cast<std::int64_t>(setup.prompt.size());
  setup.tokens = tokens_of(request, source.model, prompt);
  setup.profile = plan::load_profile("fourhold");
  setup.plan = engine::sample_plan(source.model, precision_of(request, source.weights), prompt,
                                   setup.tokens);
  setup.plan.threads = threads_of(request.plan.threads.value_or(0));
  setup.plan.isa = std::string(plan::to_string(use_isa(request.plan.isa)));
  plan::validate(setup.plan, source.model, setup.profile);
  setup.rule = choice.rule();
  const ledger::Ledger predicted =
      predict::sample_ledger(source.model, setup.plan, setup.profile, engine::sample_sizes(prompt));
  prepared.predicted_bytes = ledger::place(predicted.entries).reserved_bytes;
  require_memory(request, setup.plan.precision, prepared.predicted_bytes);
  setup.model = std::move(source.model);
  setup.numerics = source.numerics;
  setup.weights = source.weights;
  setup.stop_tokens = source.stop_tokens;
  prepared.notes = std::move(source.notes);
  choice.add_notes(prepared.notes);
  return prepared;
}

}  // namespace fourhold::engine_app

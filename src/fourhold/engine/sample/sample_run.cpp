#include "fourhold/engine/sample/sample_run.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "fourhold/engine/arena/ledger_arena.h"
#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "fourhold/engine/executor/sample_executor.h"
#include "fourhold/engine/sample/text_stream.h"
#include "fourhold/predict/sample_ledger.h"

namespace fourhold::engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::int64_t count_of(const std::vector<data::TokenId>& ids) {
  return static_cast<std::int64_t>(ids.size());
}

class Run {
 public:
  Run(const SampleSetup& setup, const SampleObserver& observer)
      : setup_(setup),
        observer_(observer),
        sizes_(sample_sizes(count_of(setup.prompt))),
        arena_(predict::sample_ledger(setup.model, setup.plan, setup.profile, sizes_),
               {.threads = static_cast<int>(setup.plan.threads)}),
        executor_(setup.model, setup.numerics, setup.plan, setup.profile, sizes_, arena_),
        stream_(*setup.tokenizer, setup.prompt) {}

  SampleResult run() {
    load_weights();
    const bool was_read = read_prompt();
    if (was_read) generate();
    if (!was_read) result_.end = SampleEnd::signal;
    show(stream_.finish());
    return report();
  }

 private:
  void load_weights() {
    const WeightFiles files(setup_.weights);
    const PublishedWeights weights(files.tensors(), setup_.model, setup_.weights);
    // What stands beside the weights of a checkpoint is its optimizer state.
    if (!is_complete(setup_.weights)) {
      for (const std::string& note : files.notes()) observer_.note(note);
    }
    for (const std::string& note : weights.notes()) observer_.note(note);
    for (const ParameterTensors& parameter : executor_.parameters()) {
      weights.read(parameter.id, parameter.weight);
    }
  }

  // Whether all of it was read. The last pass reaches back, so that all are of one size.
  bool read_prompt() {
    const Clock::time_point start = Clock::now();
    const std::int64_t count = count_of(setup_.prompt) - 1;
    const std::int64_t each = sizes_.prompt_tokens;
    for (std::int64_t begin = 0; begin < count; begin += each) {
      if (observer_.stop_asked()) return false;
      const std::int64_t first = std::min(begin, count - each);
      executor_.read_prompt(
          std::span(setup_.prompt)
              .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(each)),
          first);
    }
    result_.prompt_seconds = seconds_since(start);
    return true;
  }

  void generate() {
    const Clock::time_point start = Clock::now();
    data::TokenId last = setup_.prompt.back();
    std::int64_t position = count_of(setup_.prompt) - 1;
    for (std::int64_t i = 0; i < setup_.tokens; ++i, ++position) {
      if (observer_.stop_asked()) {
        result_.end = SampleEnd::signal;
        break;
      }
      executor_.read_token({&last, 1}, position, [&](const Tensor& logits, const Tensor& memory) {
        last = choose(logits, memory, i);
      });
      result_.tokens.push_back(last);
      const auto& stops = setup_.stop_tokens;
      if (std::find(stops.begin(), stops.end(), last) != stops.end()) {
        result_.end = SampleEnd::end_of_text;
        break;
      }
      show(stream_.add(last));
    }
    result_.token_seconds = seconds_since(start);
  }

  // Rows of a table that is larger than the tokenizer's vocabulary mean nothing.
  data::TokenId choose(const Tensor& logits, const Tensor& memory, std::int64_t index) const {
    const std::int64_t known = std::min(setup_.model.vocab, setup_.tokenizer->vocabulary_size());
    const std::span<Candidate> room{reinterpret_cast<Candidate*>(memory.data),
                                    static_cast<std::size_t>(memory.elements())};
    return draw(candidates(logits, known, setup_.rule, room),
                share_of_token(setup_.rule.seed, index));
  }

  void show(const std::string& text) {
    if (text.empty()) return;
    result_.text += text;
    observer_.text(text);
  }

  SampleResult report() {
    result_.predicted = arena_.ledger();
    result_.predicted.reserved_bytes = arena_.placement().reserved_bytes;
    result_.measured = executor_.measured();
    result_.comparison = ledger::compare(result_.predicted, result_.measured);
    result_.kernels = executor_.kernel_choices();
    return std::move(result_);
  }

  const SampleSetup& setup_;
  const SampleObserver& observer_;
  plan::SampleSizes sizes_;
  LedgerArena arena_;
  SampleExecutor executor_;
  TextStream stream_;
  SampleResult result_;
};

}  // namespace

plan::Plan sample_plan(const model::ModelConfig& model, plan::Precision precision,
                       std::int64_t prompt, std::int64_t tokens) {
  plan::Plan plan;
  plan.profile = "fourhold";
  plan.precision = precision;
  plan.seq = prompt + tokens - 1;
  plan.layers_per_stage = {model.layer_count()};
  return plan;
}

plan::SampleSizes sample_sizes(std::int64_t prompt) {
  return {.prompt_tokens = std::min(prompt - 1, plan::kMostPromptTokens)};
}

SampleResult sample(const SampleSetup& setup, const SampleObserver& observer) {
  return std::make_unique<Run>(setup, observer)->run();
}

}  // namespace fourhold::engine

// Token by token with caches gives what the whole sequence gives at once; and holds the bytes that
// were predicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fourhold/engine/executor/sample_executor.h"
#include "fourhold/engine/kernels/isa.h"
#include "fourhold/ledger/compare.h"
#include "fourhold/predict/sample_ledger.h"
#include "tests/engine/executor/run_fixture.h"

namespace fourhold::engine::testing {
namespace {

constexpr std::int64_t kVocab = 61;
constexpr std::int64_t kSequences = 2;
constexpr std::int64_t kTokens = 12;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<std::int32_t> token_ids() {
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < kSequences * kTokens; ++i) {
    ids.push_back(static_cast<std::int32_t>((i * i * 31 + 7 * i + 3) % kVocab));
  }
  return ids;
}

struct Setting {
  Family family;
  plan::Precision precision;
  Isa isa;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  constexpr const char* kFamilies[] = {"gpt2", "gpt2 untied", "llama", "qwen3", "mistral"};
  *out << kFamilies[static_cast<std::size_t>(setting.family)] << " "
       << plan::kPrecisionNames[static_cast<std::size_t>(setting.precision)] << " "
       << plan::to_string(setting.isa);
}

// [sequence x token, vocabulary]: log-probabilities of what comes next.
using LogProbabilities = std::vector<std::vector<double>>;

// By evaluations of whole sequences, each with a target at one place alone: its loss is the
// log-probability of that target.
LogProbabilities at_once(const Setting& setting) {
  const TinyRun run = make_run(setting.family,
                               [&](plan::Plan& plan) {
                                 plan.precision = setting.precision;
                                 plan.micro_batch = kSequences;
                                 plan.seq = kTokens;
                               },
                               {.isa = setting.isa, .watch = Watch::off, .guard_bytes = 0});
  fill_weights(*run.executor);
  const std::vector<std::int32_t> ids = token_ids();
  LogProbabilities all;
  for (std::int64_t row = 0; row < kSequences * kTokens; ++row) {
    std::vector<double>& own = all.emplace_back();
    for (std::int32_t target = 0; target < kVocab; ++target) {
      own.push_back(-run.executor->evaluate(
          [&](const Tensor& to) { std::memcpy(to.data, ids.data(), at(to.bytes())); },
          [&](const Tensor& to) {
            const std::span<std::int32_t> targets = to.as<std::int32_t>();
            std::fill(targets.begin(), targets.end(), -1);
            targets[at(row)] = target;
          }));
    }
  }
  return all;
}

struct TinySample {
  TinyRun base;  // the model
  plan::Plan plan;
  ledger::Ledger predicted;
  std::unique_ptr<LedgerArena> arena;
  std::unique_ptr<SampleExecutor> executor;
};

TinySample make_sample(const Setting& setting, std::int64_t prompt_tokens,
                       const Options& options = {}) {
  TinySample sample{.base = {}, .plan = {}, .predicted = {}, .arena = {}, .executor = {}};
  TinyRun& base = sample.base;
  const std::string text = config_text(setting.family);
  base.config = model::read_hf_config(text, "tiny");
  base.numerics = model::read_numerics(text, "tiny");
  base.profile = plan::load_profile("fourhold");
  sample.plan = tiny_plan(base.config);
  sample.plan.precision = setting.precision;
  sample.plan.micro_batch = kSequences;
  sample.plan.seq = kTokens;
  sample.plan.isa = std::string(plan::to_string(setting.isa));
  const plan::SampleSizes sizes{prompt_tokens};
  sample.predicted = predict::sample_ledger(base.config, sample.plan, base.profile, sizes);
  if (options.change) options.change(sample.predicted);
  sample.arena = std::make_unique<LedgerArena>(
      sample.predicted, LedgerArenaOptions{.threads = 1, .guard_bytes = options.guard_bytes});
  sample.executor = std::make_unique<SampleExecutor>(
      base.config, base.numerics, sample.plan, base.profile, sizes, *sample.arena, options.watch);
  fill_weights(sample.executor->parameters());
  return sample;
}

// Columns [first, first + count) of the ids of all sequences.
std::vector<std::int32_t> columns(std::int64_t first, std::int64_t count) {
  const std::vector<std::int32_t> ids = token_ids();
  std::vector<std::int32_t> part;
  for (std::int64_t s = 0; s < kSequences; ++s) {
    for (std::int64_t i = first; i < first + count; ++i) part.push_back(ids[at(s * kTokens + i)]);
  }
  return part;
}

// Reads one token of each sequence; rows of `to` at that position are filled.
void read_token(SampleExecutor& executor, std::int64_t position, LogProbabilities& to) {
  executor.read_token(
      columns(position, 1), position, [&](const Tensor& logits, const Tensor& memory) {
        EXPECT_EQ(logits.elements(), kSequences * kVocab);
        std::memset(memory.data, 0, at(memory.bytes()));
        for (std::int64_t s = 0; s < kSequences; ++s) {
          std::vector<double> row;
          double sum = 0;
          for (std::int64_t i = 0; i < kVocab; ++i) {
            const auto place = at(s * kVocab + i);
            row.push_back(logits.dtype == DType::bf16
                              ? static_cast<double>(to_float(logits.as<Bf16>()[place]))
                              : static_cast<double>(logits.as<float>()[place]));
            sum += std::exp(row.back());
          }
          for (double& value : row) value -= std::log(sum);
          to[at(s * kTokens + position)] = row;
        }
      });
}

std::string differences(const ledger::Comparison& comparison) {
  std::string text;
  for (const ledger::CompareRow& row : comparison.rows) {
    if (row.differs()) text += row.key + "\n";
  }
  return text;
}

// bf16: both ways round some ten activations to 8 digits on the way to a logit, at other places of
// their sums: 2^-9 of values of about 1, ten times, is 0.02 at its worst.
double tolerance_of(plan::Precision precision, double expected) {
  return precision == plan::Precision::fp32 ? 1e-4 * std::abs(expected) : 0.03;
}

class Sample : public ::testing::TestWithParam<Setting> {};

TEST_P(Sample, LogitsEqualThoseOfTheWholeSequenceAndBytesThePredicted) {
  const Setting& setting = GetParam();
  const LogProbabilities expected = at_once(setting);
  // Prompts: none; of passes that fit; and of passes of which the last reaches back.
  for (const auto& [prompt, pass] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {8, 4}, {7, 3}, {5, 5}}) {
    SCOPED_TRACE(prompt);
    const TinySample sample = make_sample(setting, pass);
    SampleExecutor& executor = *sample.executor;
    for (std::int64_t begin = 0; begin < prompt; begin += pass) {
      const std::int64_t first = std::min(begin, prompt - pass);
      executor.read_prompt(columns(first, pass), first);
    }
    LogProbabilities found(at(kSequences * kTokens));
    for (std::int64_t position = prompt; position < kTokens; ++position) {
      read_token(executor, position, found);
    }
    for (std::int64_t row = 0; row < kSequences * kTokens; ++row) {
      if (row % kTokens < prompt) continue;
      for (std::int64_t i = 0; i < kVocab; ++i) {
        const double want = expected[at(row)][at(i)];
        ASSERT_NEAR(found[at(row)][at(i)], want, tolerance_of(setting.precision, want))
            << "row " << row << " token " << i;
      }
    }
    const ledger::Ledger measured = executor.measured();
    ledger::Ledger predicted = sample.predicted;
    predicted.reserved_bytes = measured.reserved_bytes;  // guards move entries: see below
    const ledger::Comparison comparison = ledger::compare(predicted, measured);
    EXPECT_TRUE(comparison.is_equal()) << differences(comparison);
    EXPECT_EQ(measured.live_peak_bytes, sample.predicted.live_peak_bytes);
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Family family :
       {Family::gpt2, Family::gpt2_untied, Family::llama, Family::qwen3, Family::mistral}) {
    for (const auto precision : {plan::Precision::fp32, plan::Precision::bf16}) {
      all.push_back({family, precision, Isa::portable});
      if (best_isa() != Isa::portable) all.push_back({family, precision, best_isa()});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Settings, Sample, ::testing::ValuesIn(settings()));

constexpr Setting kGpt2{Family::gpt2, plan::Precision::bf16, Isa::portable};

TEST(SampleBytes, ReservedAreTheHighestByteTouchedWithoutGuards) {
  const TinySample sample = make_sample(kGpt2, 3, {.watch = Watch::off, .guard_bytes = 0});
  LogProbabilities found(at(kSequences * kTokens));
  sample.executor->read_prompt(columns(0, 3), 0);
  read_token(*sample.executor, 3, found);
  EXPECT_EQ(sample.executor->measured().reserved_bytes, sample.arena->placement().reserved_bytes);
}

// Keys and values of two layers, two sequences of 12 tokens, three heads of 8: in bf16.
TEST(SampleBytes, TheCacheHoldsKeysAndValuesOfEveryTokenALayerCanSee) {
  const TinySample sample = make_sample(kGpt2, 3);
  LogProbabilities found(at(kSequences * kTokens));
  sample.executor->read_prompt(columns(0, 3), 0);
  read_token(*sample.executor, 3, found);
  const ledger::CategoryBytes bytes = sample.executor->measured().at_peak_by_category();
  EXPECT_EQ(bytes[at(static_cast<std::int64_t>(ledger::Category::kv_cache))],
            fourhold::Bytes(2 * 2 * (2 * 12) * (3 * 8) * 2));
  for (const auto none : {ledger::Category::gradient, ledger::Category::master_weight,
                          ledger::Category::optimizer_state, ledger::Category::saved_activation}) {
    EXPECT_EQ(bytes[static_cast<std::size_t>(none)], fourhold::Bytes(0));
  }
}

TEST(SampleBytes, ALedgerWithoutACacheOrWithASmallerOneMakesTheRunFail) {
  const auto drop = [](ledger::Ledger& ledger) {
    std::erase_if(ledger.entries,
                  [](const ledger::Entry& entry) { return entry.key.name == "v_cache"; });
  };
  const auto shrink = [](ledger::Ledger& ledger) {
    for (ledger::Entry& entry : ledger.entries) {
      if (entry.key.name == "k_cache" && entry.key.layer == 1) {
        entry.bytes = entry.bytes - fourhold::Bytes(48);
      }
    }
  };
  EXPECT_THROW(static_cast<void>(make_sample(kGpt2, 3, {.change = drop})), std::logic_error);
  EXPECT_THROW(static_cast<void>(make_sample(kGpt2, 3, {.change = shrink})), std::logic_error);
}

}  // namespace
}  // namespace fourhold::engine::testing

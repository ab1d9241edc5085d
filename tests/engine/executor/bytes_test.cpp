// Measured bytes equal predicted bytes, entry by entry, with guards around every entry.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fourhold/ledger/compare.h"
#include "tests/engine/executor/run_fixture.h"

namespace fourhold::engine::testing {
namespace {

struct Combination {
  Family family;
  plan::Precision precision;
  plan::RecomputeKind recompute;
  std::int64_t micro_batch;
  std::int64_t grad_accum;
  std::int64_t loss_chunk;
};

void PrintTo(const Combination& combination, std::ostream* out) {
  constexpr std::array<const char*, 4> kFamilies{"gpt2", "gpt2 untied", "llama", "qwen3"};
  *out << kFamilies[static_cast<std::size_t>(combination.family)] << " "
       << plan::kPrecisionNames[static_cast<std::size_t>(combination.precision)] << " recompute "
       << static_cast<int>(combination.recompute) << " " << combination.micro_batch << " x "
       << combination.grad_accum << " chunk " << combination.loss_chunk;
}

std::string differences(const ledger::Comparison& comparison) {
  std::string text;
  for (const ledger::CompareRow& row : comparison.rows) {
    if (!row.differs()) continue;
    text += row.key + ":";
    if (row.only_in == ledger::OnlyIn::a) text += " only predicted";
    if (row.only_in == ledger::OnlyIn::b) text += " only measured";
    for (const std::string_view field : row.fields) text += " " + std::string(field);
    text += "\n";
  }
  return text;
}

std::vector<Combination> combinations() {
  std::vector<Combination> all;
  for (const Family family : {Family::gpt2, Family::gpt2_untied, Family::llama, Family::qwen3}) {
    for (const auto precision : {plan::Precision::fp32, plan::Precision::bf16,
                                 plan::Precision::bf16_split, plan::Precision::bf16_pure}) {
      for (const auto recompute :
           {plan::RecomputeKind::none, plan::RecomputeKind::selective, plan::RecomputeKind::full}) {
        const auto at = static_cast<std::int64_t>(all.size());
        all.push_back({family, precision, recompute, 1 + at % 2, 1 + at % 4,
                       at % 3 == 0 ? 0 : (at % 3 == 1 ? 7 : 16)});
        all.push_back({family, precision, recompute, 2, 5 - at % 4, at % 2 == 0 ? 5 : 0});
      }
    }
  }
  return all;
}

class Bytes : public ::testing::TestWithParam<Combination> {};

TEST_P(Bytes, MeasuredEqualPredictedEntryByEntry) {
  const Combination& asked = GetParam();
  TinyRun run = make_run(asked.family, [&](plan::Plan& plan) {
    plan.precision = asked.precision;
    plan.recompute.kind = asked.recompute;
    if (asked.recompute == plan::RecomputeKind::selective) {
      plan.recompute = plan::recompute_from_string("selective");
    }
    plan.micro_batch = asked.micro_batch;
    plan.grad_accum = asked.grad_accum;
    plan.loss_chunk = asked.loss_chunk;
  });
  fill_weights(*run.executor);
  PlainDriver driver(run);
  for (int step = 0; step < 2; ++step) run.executor->run_step(driver);
  EXPECT_TRUE(std::isfinite(driver.mean_loss));
  EXPECT_NEAR(driver.mean_loss, std::log(61), 1.5);  // weights are random
  const ledger::Ledger measured = run.executor->measured();
  ledger::Ledger predicted = run.predicted;
  predicted.reserved_bytes = measured.reserved_bytes;  // guards move entries: see the test below
  const ledger::Comparison comparison = ledger::compare(predicted, measured);
  EXPECT_TRUE(comparison.is_equal()) << differences(comparison);
  EXPECT_EQ(measured.live_peak_bytes, run.predicted.live_peak_bytes);
}

INSTANTIATE_TEST_SUITE_P(Combinations, Bytes, ::testing::ValuesIn(combinations()));

TEST(Bytes, ReservedAreTheHighestByteTouchedWithoutGuards) {
  for (const Family family : {Family::gpt2, Family::llama}) {
    TinyRun run = make_run(family, [](plan::Plan& plan) { plan.grad_accum = 3; },
                           {.watch = Watch::off, .guard_bytes = 0});
    fill_weights(*run.executor);
    PlainDriver driver(run);
    run.executor->run_step(driver);
    EXPECT_EQ(run.executor->measured().reserved_bytes, run.arena->placement().reserved_bytes);
  }
}

// The ledger is what the run is held to: a tensor that it lacks, or has too large or too small,
// must be noticed.
TEST(Bytes, ALedgerWithoutASavedTensorMakesTheRunFail) {
  const auto drop = [](ledger::Ledger& ledger) {
    std::erase_if(ledger.entries, [](const ledger::Entry& entry) {
      return entry.key.name == "norm1_out" && entry.key.layer == 1 &&
             entry.category == ledger::Category::saved_activation;
    });
  };
  EXPECT_THROW(static_cast<void>(make_run(Family::gpt2, {}, {.change = drop})), std::logic_error);
}

TEST(Bytes, ALedgerWithAnotherSizeMakesTheRunFail) {
  for (const std::int64_t change : {-2, 2, 64}) {
    const auto resize = [change](ledger::Ledger& ledger) {
      for (ledger::Entry& entry : ledger.entries) {
        if (entry.key.name == "q" && entry.key.layer == 0) {
          entry.bytes = entry.bytes + fourhold::Bytes(change);
        }
      }
    };
    EXPECT_THROW(static_cast<void>(make_run(Family::llama, {}, {.change = resize})),
                 std::logic_error)
        << change;
  }
}

// Alive for longer than it is used: the bytes agree, the lifetimes do not.
TEST(Bytes, AnEntryThatLivesTooLongIsADifference) {
  TinyRun run = make_run(Family::gpt2, {}, {.change = [](ledger::Ledger& ledger) {
                           for (ledger::Entry& entry : ledger.entries) {
                             if (entry.key.name == "down_out" && entry.key.layer == 0 &&
                                 entry.key.role == ledger::Role::value) {
                               ++entry.last_step;
                             }
                           }
                         }});
  fill_weights(*run.executor);
  PlainDriver driver(run);
  run.executor->run_step(driver);
  const ledger::Comparison comparison = ledger::compare(run.predicted, run.executor->measured());
  EXPECT_GE(comparison.entries_differing, 1);
  EXPECT_NE(differences(comparison).find("down_out"), std::string::npos);
}

TEST(Bytes, TheOptimizerComesToEveryStorageOnce) {
  TinyRun tied = make_run(Family::gpt2, {});
  fill_weights(*tied.executor);
  PlainDriver driver(tied);
  tied.executor->run_step(driver);
  EXPECT_EQ(driver.updated.size(), tied.executor->parameters().size());
  // 2 tables, 16 per layer, 2 of the last norm; the head is the table.
  EXPECT_EQ(driver.updated.size(), 2U + 2 * 16 + 2);
}

}  // namespace
}  // namespace fourhold::engine::testing

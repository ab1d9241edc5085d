// Measured bytes equal predicted bytes, entry by entry, with guards around every entry.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/ledger/compare.h"
#include "fourhold/ledger/placement.h"
#include "tests/engine/executor/run_fixture.h"

namespace fourhold::engine::testing {
namespace {

struct Combination {
  Family family;
  plan::Precision precision;
  const char* recompute;
  std::int64_t micro_batch;
  std::int64_t grad_accum;
  std::int64_t loss_chunk;
  plan::GradientAccumulation accumulation = plan::GradientAccumulation::same_as_gradient;
};

void PrintTo(const Combination& combination, std::ostream* out) {
  constexpr std::array<const char*, 5> kFamilies{"gpt2", "gpt2 untied", "llama", "qwen3",
                                                 "mistral"};
  *out << kFamilies[static_cast<std::size_t>(combination.family)] << " "
       << plan::kPrecisionNames[static_cast<std::size_t>(combination.precision)] << " recompute "
       << combination.recompute << " " << combination.micro_batch << " x " << combination.grad_accum
       << " chunk " << combination.loss_chunk << " gradients "
       << plan::kGradientAccumulationNames[static_cast<std::size_t>(combination.accumulation)];
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
  for (const Family family :
       {Family::gpt2, Family::gpt2_untied, Family::llama, Family::qwen3, Family::mistral}) {
    for (const auto precision : {plan::Precision::fp32, plan::Precision::bf16,
                                 plan::Precision::bf16_split, plan::Precision::bf16_pure}) {
      for (const char* recompute : {"none", "selective", "full"}) {
        const auto at = static_cast<std::int64_t>(all.size());
        all.push_back({family, precision, recompute, 1 + at % 2, 1 + at % 4,
                       at % 3 == 0 ? 0 : (at % 3 == 1 ? 7 : 16)});
        all.push_back({family, precision, recompute, 2, 5 - at % 4, at % 2 == 0 ? 5 : 0});
      }
    }
    // What repairs bf16 without a master copy, gradients added up in fp32, and layers in part.
    all.push_back({family, plan::Precision::bf16_sr, "full", 1, 2, 0});
    all.push_back({family, plan::Precision::bf16_kahan, "none", 2, 1, 7});
    all.push_back({family, plan::Precision::bf16_pure, "selective", 1, 3, 0,
                   plan::GradientAccumulation::fp32});
    all.push_back({family, plan::Precision::bf16, "full:1", 2, 2, 16});
    all.push_back({family, plan::Precision::fp32, "full:1", 1, 3, 0});
  }
  return all;
}

TinyRun run_of(const Combination& asked, const Options& options) {
  return make_run(
      asked.family,
      [&](plan::Plan& plan) {
        plan.precision = asked.precision;
        plan.recompute = plan::recompute_from_string(asked.recompute);
        plan.gradient_accumulation = asked.accumulation;
        plan.micro_batch = asked.micro_batch;
        plan.grad_accum = asked.grad_accum;
        plan.loss_chunk = asked.loss_chunk;
      },
      options);
}

class Bytes : public ::testing::TestWithParam<Combination> {};

TEST_P(Bytes, MeasuredEqualPredictedEntryByEntry) {
  TinyRun run = run_of(GetParam(), {});
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

// --- placement ----------------------------------------------------------------------------------

// Offsets in the arena by key and first step: an entry of one key may come alive several times.
using Offsets = std::map<std::pair<std::string, std::int64_t>, std::int64_t>;

Offsets offsets_of(const std::vector<ledger::Entry>& entries,
                   const std::vector<std::int64_t>& offsets) {
  Offsets named;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    named[{ledger::to_string(entries[i].key), entries[i].first_step}] = offsets.at(i);
  }
  EXPECT_EQ(named.size(), entries.size());
  EXPECT_EQ(offsets.size(), entries.size());
  return named;
}

Offsets predicted_offsets(const ledger::Ledger& predicted) {
  return offsets_of(predicted.entries, ledger::place(predicted.entries).offsets);
}
Offsets measured_offsets(const Executor& executor) {
  return offsets_of(executor.measured().entries, executor.measured_offsets());
}

// The operands that a step touched, in a run that is laid out as one of a user is.
TinyRun run_without_guards(const Combination& asked,
                           const std::function<void(ledger::Ledger&)>& change = {}) {
  TinyRun run = run_of(asked, {.watch = Watch::off, .guard_bytes = 0, .change = change});
  fill_weights(*run.executor);
  PlainDriver driver(run);
  run.executor->run_step(driver);
  return run;
}

TEST_P(Bytes, EveryEntryLiesWhereThePredictedPlacementHasIt) {
  const TinyRun run = run_without_guards(GetParam());
  EXPECT_EQ(measured_offsets(*run.executor), predicted_offsets(run.predicted));
  const ledger::Ledger measured = run.executor->measured();
  const ledger::Placement predicted = ledger::place(run.predicted.entries);
  EXPECT_EQ(measured.reserved_bytes, predicted.reserved_bytes);
  // No two of them that are alive at one step share a byte, whatever was predicted.
  EXPECT_FALSE(ledger::find_fault(
      measured.entries,
      {run.executor->measured_offsets(), predicted.arena_bytes, predicted.reserved_bytes}));
}

INSTANTIATE_TEST_SUITE_P(Combinations, Bytes, ::testing::ValuesIn(combinations()));

// Two moments of one size change places: every size, sum and lifetime stays as it was predicted.
TEST(Bytes, EntriesThatChangePlacesAreADifferenceOfPlacementAlone) {
  const Combination plain{Family::gpt2, plan::Precision::fp32, "none", 2, 1, 0};
  const TinyRun kept = run_without_guards(plain);
  const TinyRun changed = run_without_guards(plain, [](ledger::Ledger& ledger) {
    std::vector<ledger::Entry*> moments;
    for (ledger::Entry& entry : ledger.entries) {
      if (entry.key.name == "q_weight" && entry.key.role == ledger::Role::moment1) {
        moments.push_back(&entry);
      }
    }
    ASSERT_EQ(moments.size(), 2U);  // of two layers
    std::swap(*moments[0], *moments[1]);
  });
  const ledger::Comparison comparison =
      ledger::compare(kept.predicted, changed.executor->measured());
  EXPECT_EQ(comparison.entries_differing, 0) << differences(comparison);
  EXPECT_EQ(comparison.live_peak.difference(), fourhold::Bytes(0));
  const Offsets predicted = predicted_offsets(kept.predicted);
  const Offsets measured = measured_offsets(*changed.executor);
  ASSERT_EQ(measured.size(), predicted.size());
  int moved = 0;
  for (const auto& [entry, offset] : measured) moved += offset == predicted.at(entry) ? 0 : 1;
  EXPECT_EQ(moved, 2);
}

// An entry that nobody predicted pushes others aside.
TEST(Bytes, AStrangerInTheArenaIsADifferenceOfPlacement) {
  const Combination plain{Family::llama, plan::Precision::bf16, "none", 1, 2, 0};
  const TinyRun kept = run_without_guards(plain);
  const TinyRun changed = run_without_guards(plain, [](ledger::Ledger& ledger) {
    ledger::Entry stranger = ledger.entries.front();
    stranger.key.name = "stranger";
    ledger.entries.insert(ledger.entries.begin(), stranger);
  });
  EXPECT_NE(measured_offsets(*changed.executor), predicted_offsets(kept.predicted));
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

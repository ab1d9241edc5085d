#include "fourhold/api/run_json.h"

#include <gtest/gtest.h>

namespace fourhold::api {
namespace {

TEST(RunJson, EveryCategoryThatTrainingCanHoldIsThereEvenWhereItIsEmpty) {
  ledger::CategoryBytes bytes{};
  bytes[static_cast<std::size_t>(ledger::Category::gradient)] = Bytes(7);
  const json::Value value = by_category_json(bytes);
  EXPECT_EQ(value.object().size(), 12U);
  EXPECT_EQ(value.find("gradient")->integer(), 7);
  EXPECT_EQ(value.find("other")->integer(), 0);
  EXPECT_EQ(value.find("kv_cache"), nullptr);
  bytes[static_cast<std::size_t>(ledger::Category::kv_cache)] = Bytes(3);
  EXPECT_EQ(by_category_json(bytes).find("kv_cache")->integer(), 3);
}

TEST(RunJson, AVerdictWithoutAReasonHasNull) {
  predict::Verdict verdict;
  EXPECT_TRUE(verdict_json(verdict).find("reason")->is_null());
  verdict.reason = "host_memory";
  EXPECT_EQ(verdict_json(verdict).find("reason")->string(), "host_memory");
  EXPECT_EQ(verdict_json(verdict).find("class")->string(), "fits");
}

TEST(RunJson, WhatAnAnswerCostsInTimeIsNullUntilItIsKnown) {
  predict::Verdict verdict;
  verdict.answers.resize(2);
  verdict.answers[1].costs_time_percent = 33.0;
  const json::Value written = verdict_json(verdict);
  const json::Array& answers = written.find("answers")->array();
  EXPECT_TRUE(answers[0].find("costs_time_percent")->is_null());
  EXPECT_EQ(answers[1].find("costs_time_percent")->number(), 33.0);
}

TEST(RunJson, UsableBytesAreNullWithoutADevice) {
  predict::MemoryPrediction memory;
  memory.stages.resize(1);
  EXPECT_TRUE(memory_json(memory, std::nullopt).find("usable_bytes")->is_null());
  const predict::Capacity capacity{.usable_bytes = Bytes(5)};
  EXPECT_EQ(memory_json(memory, capacity).find("usable_bytes")->integer(), 5);
}

}  // namespace
}  // namespace fourhold::api

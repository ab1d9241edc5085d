#include "fourhold/api/run_notes.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

std::vector<std::string> notes_of(const std::function<void(RunRequest&)>& change) {
  RunRequest request;
  request.model = "gpt2";
  request.plan.seq = 256;
  change(request);
  const LoadedRun run = load_run(request);
  std::vector<std::string> notes;
  add_run_notes(complete_plan(run), run.profile, notes);
  return notes;
}

bool noted(const std::vector<std::string>& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&part](const std::string& note) { return holds(note, part); });
}

TEST(RunNotes, SayThatZeroOverOneRankChangesNothing) {
  EXPECT_TRUE(
      noted(notes_of([](RunRequest& request) { request.plan.zero = 3; }), "changes nothing"));
  EXPECT_FALSE(noted(notes_of([](RunRequest& request) {
                       request.plan.zero = 3;
                       request.plan.dp = 2;
                     }),
                     "changes nothing"));
}

TEST(RunNotes, SayThatHostMemoryWasNotChecked) {
  const auto offloaded = [](std::optional<Bytes> host) {
    return notes_of([host](RunRequest& request) {
      request.target.memory = Bytes(std::int64_t{1} << 34);
      request.target.host_memory = host;
      request.plan.offload = plan::Offload::optimizer;
    });
  };
  EXPECT_TRUE(noted(offloaded(std::nullopt), "not checked"));
  EXPECT_FALSE(noted(offloaded(Bytes(std::int64_t{1} << 34)), "not checked"));
}

TEST(RunNotes, SayThatLogitsOutweighEverythingElse) {
  // gpt2's vocabulary is 65 times as wide as its layers.
  EXPECT_TRUE(noted(notes_of([](RunRequest& request) {
                      request.plan.recompute = plan::recompute_from_string("full");
                      request.plan.micro_batch = 8;
                    }),
                    "--loss-chunk"));
  // One piece of 256 tokens cannot be made smaller by chunks of 1024.
  EXPECT_FALSE(noted(notes_of([](RunRequest& request) {
                       request.plan.recompute = plan::recompute_from_string("full");
                     }),
                     "--loss-chunk"));
  EXPECT_TRUE(
      noted(notes_of([](RunRequest& request) { request.plan.loss_chunk = 256; }), "one piece"));
  EXPECT_FALSE(
      noted(notes_of([](RunRequest& request) { request.plan.loss_chunk = 64; }), "--loss-chunk"));
}

TEST(RunNotes, WarnOfAPrecisionThatLosesUpdates) {
  EXPECT_TRUE(noted(
      notes_of([](RunRequest& request) { request.plan.precision = plan::Precision::bf16_pure; }),
      "rounded away"));
}

TEST(RunNotes, WarnOfAStartUpThatNeedsMoreThanTheStep) {
  // llama-2-7b over 8: 12.6 GiB of state, 25.1 GiB where every rank first builds the fp32 model.
  const auto notes = notes_of([](RunRequest& request) {
    request.model = "llama-2-7b";
    request.target.memory = Bytes(std::int64_t{20} << 30);
    request.plan.count = 8;
    request.plan.zero = 3;
    request.plan.profile = "accelerate";
    request.plan.recompute = plan::recompute_from_string("full");
  });
  EXPECT_TRUE(noted(notes, "loading the model holds 25.10 GiB"));
}

}  // namespace
}  // namespace fourhold::api

// During a step nothing but the arena holds what a step makes: no single allocation above 1 MiB,
// counted at the C library's doors.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/engine/kernels/gemm_candidates.h"
#include "fourhold/engine/train/train_run.h"
#include "tests/engine/allocations/allocation_count.h"
#include "tests/engine/train/small_training.h"

namespace fourhold::engine {
namespace {

using testing::AllocationCount;
using testing::kAllocationLimit;

// Sizes at which any tensor of a step that matters is above the limit: 512 tokens of a micro-batch
// are 1.5 MiB of one feed-forward activation in fp32, 4 MiB of logits; the table has 1.5 MiB.
constexpr const char* kGpt2 =
    R"({"model_type":"gpt2","vocab_size":2048,"n_positions":128,"n_embd":192,"n_layer":2,)"
    R"("n_head":4,"resid_pdrop":0,"embd_pdrop":0,"attn_pdrop":0})";
constexpr const char* kLlama =
    R"({"model_type":"llama","vocab_size":2048,"hidden_size":192,"intermediate_size":768,)"
    R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,)"
    R"("max_position_embeddings":128,"rms_norm_eps":1e-5,"tie_word_embeddings":false})";
constexpr std::int64_t kSteps = 3;

struct Case {
  const char* config;
  plan::Precision precision;
  const char* isa;
};

TrainSetup setup_of(const Case& one) {
  TrainSetup setup = testing::training_of(one.config, one.precision, kSteps, 1e-3);
  plan::Plan& plan = setup.plan;
  plan.isa = std::string(plan::to_string(isa_of_plan(one.isa)));
  plan.recompute = plan::recompute_from_string("full");
  plan.threads = std::string_view(one.isa) == "portable" ? 1 : 2;
  plan.micro_batch = 4;
  plan.grad_accum = std::string_view(one.isa) == "portable" ? 1 : 2;  // plain C++ is slow
  plan.global_batch = 4 * plan.grad_accum;
  plan.seq = 128;
  return setup;
}

struct CountedRun {
  std::vector<AllocationCount> steps;  // of each, from before its data to its line in the log
  std::vector<std::string> kernels;
};
CountedRun run_counted(const TrainSetup& setup) {
  CountedRun run;
  const TrainResult result = train(
      setup, {.note = [](const std::string&) {},
              .line = [&](const TrainLine&) { run.steps.push_back(testing::stop_counting()); },
              // Asked before each step, the first included, and after all that comes before.
              .stop_asked =
                  [] {
                    testing::start_counting();
                    return false;
                  }});
  static_cast<void>(testing::stop_counting());
  EXPECT_EQ(result.last_step, kSteps);
  EXPECT_TRUE(result.comparison.is_equal());
  run.kernels = result.kernels;
  return run;
}

class Allocations : public ::testing::TestWithParam<Case> {};

TEST_P(Allocations, NoneAboveOneMebibyteIsMadeInAStep) {
  const CountedRun run = run_counted(setup_of(GetParam()));
  ASSERT_EQ(run.steps.size(), static_cast<std::size_t>(kSteps));
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const AllocationCount& count = run.steps[i];
    const std::string step = "step_" + std::to_string(i + 1);
    EXPECT_EQ(count.above_limit, 0) << step;
    EXPECT_LE(count.largest, kAllocationLimit) << step;
    // All together, too: many small ones would be a tensor in pieces.
    EXPECT_LE(count.bytes, kAllocationLimit) << step;
    RecordProperty(step + "_calls", std::to_string(count.calls));
    RecordProperty(step + "_bytes", std::to_string(count.bytes));
    RecordProperty(step + "_largest", std::to_string(count.largest));
  }
  EXPECT_FALSE(run.kernels.empty());
}

INSTANTIATE_TEST_SUITE_P(
    SmallModels, Allocations,
    ::testing::Values(Case{kGpt2, plan::Precision::bf16, "auto"},
                      Case{kGpt2, plan::Precision::fp32, "auto"},
                      Case{kGpt2, plan::Precision::bf16, "portable"},
                      Case{kGpt2, plan::Precision::fp32, "portable"},
                      Case{kLlama, plan::Precision::bf16, "auto"},
                      Case{kLlama, plan::Precision::fp32, "auto"},
                      Case{kLlama, plan::Precision::bf16, "portable"},
                      Case{kLlama, plan::Precision::fp32, "portable"}),
    [](const auto& each) {
      std::string name = each.param.config == kGpt2 ? "gpt2_" : "llama_";
      name += plan::kPrecisionNames[static_cast<std::size_t>(each.param.precision)];
      return name + "_" + each.param.isa;
    });

// oneDNN makes code and asks for scratch of its own unless told not to.
TEST(Allocations, AProductOfOnednnTakesNoneOnceItIsPrepared) {
  for (const GemmForm form :
       {GemmForm::forward, GemmForm::backward_data, GemmForm::backward_weight}) {
    const GemmProblem problem{.form = form,
                              .sizes = {.m = 512, .n = 768, .k = 192},
                              .operands = DType::fp32,
                              .output = DType::fp32,
                              .threads = 2};
    for (const GemmCandidate& candidate : gemm_candidates()) {
      if (candidate.name != "onednn") continue;
      const GemmPreparation prepared = candidate.prepare(problem, best_isa());
      ASSERT_NE(prepared.gemm, nullptr) << prepared.refusal;
      std::vector<float> left(512 * 768, 0.5F);
      std::vector<float> right(512 * 768, 0.25F);
      std::vector<float> output(512 * 768);
      const auto view = [](std::vector<float>& values) {
        return Tensor{reinterpret_cast<std::byte*>(values.data()),
                      DType::fp32,
                      {static_cast<std::int64_t>(values.size())}};
      };
      const auto bytes = static_cast<std::size_t>(problem.scratch_bytes(best_isa()));
      constexpr std::align_val_t kLine{64};
      auto* const scratch = static_cast<std::byte*>(::operator new(bytes + 1, kLine));
      const GemmOperands operands{view(left), view(right), view(output)};
      prepared.gemm->run(operands, {scratch, bytes});
      testing::start_counting();
      for (int i = 0; i < 3; ++i) prepared.gemm->run(operands, {scratch, bytes});
      const AllocationCount count = testing::stop_counting();
      ::operator delete(scratch, kLine);
      EXPECT_EQ(count.above_limit, 0);
      EXPECT_LE(count.bytes, kAllocationLimit);
    }
  }
}

// --- the count itself ---------------------------------------------------------------------------

constexpr std::size_t kTwoMebibytes = std::size_t{2} << 20;

// What the compiler must believe to be used, so that no allocation is left out.
void* volatile kept = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-*)

template <class Make, class Drop>
AllocationCount count_of(const Make& make, const Drop& drop) {
  testing::start_counting();
  kept = make();
  const AllocationCount count = testing::stop_counting();
  EXPECT_NE(kept, nullptr);
  drop(kept);
  return count;
}

void expect_seen(const AllocationCount& count) {
  EXPECT_EQ(count.above_limit, 1);
  EXPECT_EQ(count.largest, static_cast<std::int64_t>(kTwoMebibytes));
}

TEST(AllocationCount, SeesTwoMebibytesAtEveryDoor) {
  const auto drop = [](void* block) { std::free(block); };
  expect_seen(count_of([] { return std::malloc(kTwoMebibytes); }, drop));
  expect_seen(count_of([] { return std::calloc(2, kTwoMebibytes / 2); }, drop));
  expect_seen(count_of([] { return std::realloc(nullptr, kTwoMebibytes); }, drop));
  expect_seen(count_of([] { return std::aligned_alloc(64, kTwoMebibytes); }, drop));
  expect_seen(count_of(
      [] {
        void* block = nullptr;
        return posix_memalign(&block, 64, kTwoMebibytes) == 0 ? block : nullptr;
      },
      drop));
  expect_seen(count_of([] { return ::operator new(kTwoMebibytes); },
                       [](void* block) { ::operator delete(block); }));
  constexpr std::align_val_t kLine{64};
  expect_seen(count_of([] { return ::operator new(kTwoMebibytes, kLine); },
                       [](void* block) { ::operator delete(block, kLine); }));
  expect_seen(count_of(
      [] {
        return mmap(nullptr, kTwoMebibytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0);
      },
      [](void* block) { munmap(block, kTwoMebibytes); }));
}

TEST(AllocationCount, SeesWhatALibraryAllocates) {
  testing::start_counting();
  // std::string's buffer is made inside libstdc++.
  const auto text = std::make_unique<std::string>(kTwoMebibytes, 'x');
  const AllocationCount count = testing::stop_counting();
  EXPECT_EQ(text->back(), 'x');
  EXPECT_EQ(count.above_limit, 1);
}

TEST(AllocationCount, SeesNothingOfWhatIsMadeOutsideIt) {
  testing::start_counting();
  static_cast<void>(testing::stop_counting());
  const std::vector<std::byte> large(kTwoMebibytes);
  testing::start_counting();
  const AllocationCount count = testing::stop_counting();
  EXPECT_EQ(large.size(), kTwoMebibytes);
  EXPECT_EQ(count.calls, 0);
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/engine/communicator/collectives.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "fourhold/engine/communicator/thread_communicator.h"
#include "tests/engine/communicator/collective_suite.h"

namespace fourhold::engine {
namespace {

std::vector<SuiteReport> over_threads(int ranks, const SuiteOptions& options) {
  std::vector<SuiteReport> reports(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& communicator) {
    reports[static_cast<std::size_t>(communicator.rank())] = run_suite(communicator, options);
  });
  return reports;
}

RC_GTEST_PROP(Collectives, EqualSumsOfOneRankAndCostWhatIsPredicted, ()) {
  SuiteOptions options;
  const auto ranks = *rc::gen::inRange(1, 9);
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.threads = *rc::gen::inRange(1, 3);
  options.cases = *rc::gen::inRange(1, 12);
  for (const SuiteReport& report : over_threads(ranks, options)) {
    RC_ASSERT(report.faults == std::vector<std::string>{});
  }
}

TEST(Collectives, LongTensorsTravelInChunks) {
  for (const int ranks : {2, 3}) {
    for (const SuiteReport& report :
         over_threads(ranks, {.seed = 5, .cases = 60, .threads = 2, .long_tensors = true})) {
      EXPECT_EQ(report.faults, std::vector<std::string>{});
    }
  }
}

TEST(Collectives, RunsAndThreadsDoNotChangeABit) {
  const SuiteOptions one{.seed = 11, .cases = 80, .threads = 1};
  const SuiteOptions two{.seed = 11, .cases = 80, .threads = 2};
  const std::uint64_t digest = over_threads(4, one)[0].digest;
  EXPECT_EQ(over_threads(4, one)[3].digest, digest);
  EXPECT_EQ(over_threads(4, two)[1].digest, digest);
  EXPECT_NE(over_threads(4, {.seed = 12, .cases = 80})[0].digest, digest);
}

// 2^24 + 1 is 2^24 in fp32, so three ranks' sum tells in which order they were added.
TEST(Collectives, SumInTheOrderOfRanks) {
  const std::vector<float> addends{0x1p24F, 1, 1};
  std::vector<float> results(3);
  run_ranks(3, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    std::vector<float> whole{addends[rank], addends[2 - rank], 0};
    std::vector<std::byte> buffer(64);
    Collectives collectives(communicator, buffer, 1);
    const Group group{{0, 1, 2}, communicator.rank()};
    collectives.reduce_scatter(
        group, {reinterpret_cast<std::byte*>(whole.data()), DType::fp32, Dims{3}},
        {reinterpret_cast<std::byte*>(&results[rank]), DType::fp32, Dims{1}}, Sum::replace);
  });
  EXPECT_EQ(results[0], 0x1p24F);      // (2^24 + 1) + 1
  EXPECT_EQ(results[1], 0x1p24F + 2);  // (1 + 1) + 2^24
}

TEST(Collectives, RoundOnce) {
  // 1 + 2^-8 + 2^-8: as bf16 after each sum it would stay 1, and rounded once it is 1 + 2^-7.
  std::vector<Bf16> results(3);
  run_ranks(3, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    std::vector<Bf16> whole(3, to_bf16(rank == 0 ? 1.0F : 0x1p-8F));
    std::vector<std::byte> buffer(64);
    Collectives collectives(communicator, buffer, 1);
    const Group group{{0, 1, 2}, communicator.rank()};
    collectives.all_reduce(group,
                           {reinterpret_cast<std::byte*>(whole.data()), DType::bf16, Dims{3}});
    results[rank] = whole[(rank + 1) % 3];
  });
  for (const Bf16 result : results) EXPECT_EQ(to_float(result), 1 + 0x1p-7F);
}

// What is gathered goes out of scope while it is still promised: nobody may write to it then.
TEST(Collectives, NameARankThatHangsWhileAGatherIsUnderWay) {
  std::atomic<int> gave_up = 0;
  run_ranks(
      3,
      [&](Communicator& communicator) {
        if (communicator.rank() == 1) {
          while (gave_up < 2) std::this_thread::yield();
          return;
        }
        std::vector<float> whole(3, 1);
        const Tensor all{reinterpret_cast<std::byte*>(whole.data()), DType::fp32, Dims{3}};
        const Tensor own{all.data + 4 * communicator.rank(), DType::fp32, Dims{1}};
        std::string fault;
        Collectives collectives(communicator, {}, 1);
        collectives.start_all_gather({{0, 1, 2}, communicator.rank()}, own, all);
        collectives.advance();
        try {
          collectives.finish_gathers();
        } catch (const Error& error) {
          fault = error.where() + ": " + error.what();
        }
        ++gave_up;
        EXPECT_TRUE(fault.starts_with("rank 1: has not answered rank ")) << fault;
      },
      Seconds{0.25});
}

TEST(Collectives, RefuseABufferThatIsTooSmall) {
  EXPECT_THROW(
      run_ranks(
          2,
          [](Communicator& communicator) {
            std::vector<float> whole(100);
            // Two chunks of 50 elements of the other rank need 400 bytes.
            std::vector<std::byte> buffer(399);
            Collectives collectives(communicator, buffer, 1);
            const Tensor tensor{reinterpret_cast<std::byte*>(whole.data()), DType::fp32, Dims{100}};
            collectives.all_reduce({{0, 1}, communicator.rank()}, tensor);
          }),
      Error);
}

}  // namespace
}  // namespace fourhold::engine

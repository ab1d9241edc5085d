#include "fourhold/engine/launch/restarts.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace fourhold::engine {
namespace {

// Runs that end with the given codes, and hosts that are lost after them.
struct Script {
  std::deque<int> codes{};
  std::vector<Host> left{};  // after the first run
  bool stop_after_first = false;

  std::vector<Attempt> attempts{};
  std::vector<std::string> said{};

  int run(std::int64_t restarts, const Attempt& first) {
    return run_with_restarts(
        first, restarts,
        {.run =
             [this](const Attempt& attempt) {
               attempts.push_back(attempt);
               const int code = codes.front();
               codes.pop_front();
               return code;
             },
         .answering = [this](const std::vector<Host>&) { return left; },
         .room = [](const std::vector<Host>& hosts,
                    const plan::Plan& plan) { return room_of(hosts, 1, plan.threads); },
         .stop_asked = [this] { return stop_after_first; },
         .say = [this](const std::string& text) { said.push_back(text); }});
  }
  [[nodiscard]] bool says(const std::string& part) const {
    for (const std::string& text : said) {
      if (text.find(part) != std::string::npos) return true;
    }
    return false;
  }
};

Attempt on(std::vector<Host> hosts, std::int64_t dp = 4, std::int64_t grad_accum = 3) {
  plan::Plan plan;
  plan.dp = dp;
  plan.grad_accum = grad_accum;
  plan.global_batch = dp * grad_accum;
  return {plan, std::move(hosts), false};
}

TEST(Restarts, AJobThatEndsWellIsNotStartedAgain) {
  Script script{.codes = {0}};
  EXPECT_EQ(script.run(3, on({})), 0);
  EXPECT_TRUE(script.said.empty());
}

TEST(Restarts, AFailureGoesOnFromTheNewestCheckpoint) {
  Script script{.codes = {137, 3, 0}};
  EXPECT_EQ(script.run(3, on({})), 0);
  ASSERT_EQ(script.attempts.size(), 3U);
  EXPECT_FALSE(script.attempts[0].resume);
  EXPECT_TRUE(script.attempts[1].resume);
  EXPECT_EQ(script.attempts[2].plan.dp, 4);
  EXPECT_TRUE(script.says("restart 1 of 3 on 4 ranks"));
}

TEST(Restarts, TheLastCodeIsThatOfTheJob) {
  Script script{.codes = {137, 139}};
  EXPECT_EQ(script.run(1, on({})), 139);
  EXPECT_TRUE(script.says("exit code 139 after 1 restart"));
}

TEST(Restarts, WithoutRestartsAFailureIsTheEnd) {
  Script script{.codes = {137}};
  EXPECT_EQ(script.run(0, on({})), 137);
  EXPECT_TRUE(script.said.empty());
}

TEST(Restarts, AnAnswerOfTheProgramIsNotAskedForTwice) {
  for (const int code : {1, 2}) {
    Script script{.codes = {code}};
    EXPECT_EQ(script.run(5, on({})), code);
    EXPECT_TRUE(script.says("another start would repeat"));
  }
}

TEST(Restarts, AStopThatWasAskedForEndsItOnceAndForAll) {
  Script script{.codes = {143}, .stop_after_first = true};
  EXPECT_EQ(script.run(5, on({})), 143);
  EXPECT_TRUE(script.said.empty());
}

// Four hosts of a rank each, one lost: 4 x 3 micro-batches are 3 x 4. mpirun ends with 1 then.
TEST(Restarts, ALostHostLeavesFewerReplicasAndTheSameGlobalBatch) {
  const std::vector<Host> left{{"a", 1}, {"b", 1}, {"d", 1}};
  Script script{.codes = {1, 0}, .left = left};
  EXPECT_EQ(script.run(1, on({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}})), 0);
  ASSERT_EQ(script.attempts.size(), 2U);
  EXPECT_EQ(script.attempts[1].plan.dp, 3);
  EXPECT_EQ(script.attempts[1].plan.grad_accum, 4);
  EXPECT_EQ(script.attempts[1].hosts, left);
  EXPECT_TRUE(script.says("c does not answer: dp 3 x grad_accum 4 on 3 ranks"));
}

TEST(Restarts, HostsWithRoomToSpareTakeAllRanks) {
  Script script{.codes = {137, 0}, .left = {{"a", 4}}};
  EXPECT_EQ(script.run(1, on({{"a", 4}, {"b", 4}})), 0);
  EXPECT_EQ(script.attempts[1].plan.dp, 4);
  EXPECT_TRUE(script.says("b does not answer; the others have room for all 4 ranks"));
}

TEST(Restarts, WhereNoReplicaCanBeLeftOutItEnds) {
  Script script{.codes = {137}, .left = {{"a", 1}}};
  Attempt first = on({{"a", 1}, {"b", 1}}, 1);
  first.plan.pp = 2;
  EXPECT_EQ(script.run(3, first), 137);
  EXPECT_TRUE(script.says("not started again"));
}

TEST(Restarts, WhereNoHostIsLeftItEnds) {
  Script script{.codes = {137}, .left = {}};
  EXPECT_EQ(script.run(3, on({{"a", 4}})), 137);
  EXPECT_TRUE(script.says("not started again"));
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/engine/communicator/thread_communicator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fourhold::engine {
namespace {

template <typename T>
std::span<std::byte> bytes_of_value(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

// What a rank's wait() threw, as "where: what".
std::string caught(Communicator& communicator, const Message& message) {
  try {
    communicator.wait({&message, 1});
  } catch (const Error& error) {
    return error.where() + ": " + error.what();
  }
  return "nothing";
}

TEST(RunRanks, GivesEachRankItsPlace) {
  std::atomic<int> seen = 0;
  run_ranks(3, [&](Communicator& communicator) {
    EXPECT_EQ(communicator.size(), 3);
    EXPECT_EQ(std::vector<int>(communicator.node().begin(), communicator.node().end()),
              (std::vector<int>{0, 1, 2}));
    seen += 1 << communicator.rank();
  });
  EXPECT_EQ(seen, 7);
}

TEST(RunRanks, MessagesOfOneTagKeepTheirOrderAndTagsDoNotMix) {
  run_ranks(2, [](Communicator& communicator) {
    std::vector<int> values{1, 2, 3};
    std::vector<Message> messages;
    if (communicator.rank() == 0) {
      messages.push_back(communicator.send(1, 5, bytes_of_value(values[0])));
      messages.push_back(communicator.send(1, 6, bytes_of_value(values[1])));
      messages.push_back(communicator.send(1, 5, bytes_of_value(values[2])));
      communicator.wait(messages);
      return;
    }
    std::vector<int> got(3);
    messages.push_back(communicator.receive(0, 6, bytes_of_value(got[0])));
    messages.push_back(communicator.receive(0, 5, bytes_of_value(got[1])));
    messages.push_back(communicator.receive(0, 5, bytes_of_value(got[2])));
    communicator.wait(messages);
    EXPECT_EQ(got, (std::vector<int>{2, 1, 3}));
  });
}

TEST(RunRanks, ARankMaySendToItself) {
  run_ranks(1, [](Communicator& communicator) {
    int value = 42;
    int got = 0;
    const std::vector<Message> messages{communicator.send(0, 1, bytes_of_value(value)),
                                        communicator.receive(0, 1, bytes_of_value(got))};
    communicator.wait(messages);
    EXPECT_EQ(got, 42);
  });
}

TEST(RunRanks, ThrowsTheFirstExceptionAgainAndNamesItsRankToTheOthers) {
  std::vector<std::string> heard(3);
  const auto body = [&](Communicator& communicator) {
    if (communicator.rank() == 1) throw std::runtime_error("the loss is not finite");
    int value = 0;
    const Message message = communicator.receive(1, 0, bytes_of_value(value));
    heard[static_cast<std::size_t>(communicator.rank())] = caught(communicator, message);
  };
  try {
    run_ranks(3, body);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the loss is not finite");
  }
  EXPECT_EQ(heard[0], "rank 1: the loss is not finite");
  EXPECT_EQ(heard[2], "rank 1: the loss is not finite");
}

TEST(RunRanks, AFailureIsHeardByAllThatWaitLater) {
  run_ranks(2, [](Communicator& communicator) {
    if (communicator.rank() == 0) {
      communicator.fail({0, "step 12: the loss is not finite"});
      communicator.fail({0, "a second reason"});
      return;
    }
    int value = 0;
    EXPECT_EQ(caught(communicator, communicator.receive(0, 0, bytes_of_value(value))),
              "rank 0: step 12: the loss is not finite");
    EXPECT_EQ(caught(communicator, communicator.receive(0, 0, bytes_of_value(value))),
              "rank 0: step 12: the loss is not finite");
  });
}

TEST(RunRanks, ARankThatHangsIsNamed) {
  std::atomic<int> gave_up = 0;
  const auto body = [&](Communicator& communicator) {
    if (communicator.rank() == 2) {
      while (gave_up < 2) std::this_thread::yield();
      return;
    }
    int value = 0;
    const Message message = communicator.receive(2, 0, bytes_of_value(value));
    const std::string fault = caught(communicator, message);
    ++gave_up;
    EXPECT_TRUE(fault == "rank 2: has not answered rank 0 for 0.25 s" ||
                fault == "rank 2: has not answered rank 1 for 0.25 s")
        << fault;
  };
  run_ranks(3, body, Seconds{0.25});
}

TEST(RunRanks, AMessageOfTheWrongLengthIsAFaultOfTheProgram) {
  const auto body = [](Communicator& communicator) {
    int value = 0;
    char byte = 0;
    const Message message = communicator.rank() == 0
                                ? communicator.send(1, 0, bytes_of_value(value))
                                : communicator.receive(0, 0, bytes_of_value(byte));
    communicator.wait({&message, 1});
  };
  try {
    run_ranks(2, body);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "rank 1");
    EXPECT_STREQ(error.what(), "rank 0 sent 4 bytes where 1 were expected");
  }
}

// A sender that fails takes its bytes back: under the address sanitizer a copy would be seen.
TEST(RunRanks, BytesOfARankThatFailedAreNotRead) {
  const auto body = [](Communicator& communicator) {
    if (communicator.rank() == 0) {
      const std::vector<std::byte> gone(1 << 20);
      static_cast<void>(communicator.send(1, 0, gone));
      communicator.withdraw();
      throw std::runtime_error("failed");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::vector<std::byte> bytes(1 << 20);
    EXPECT_EQ(caught(communicator, communicator.receive(0, 0, bytes)), "rank 0: failed");
  };
  EXPECT_THROW(run_ranks(2, body), std::runtime_error);
}

}  // namespace
}  // namespace fourhold::engine

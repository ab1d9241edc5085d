// How to wait for something that must be asked for: awake at first, asleep before long, so that
// another rank on the same core gets to compute.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace fourhold::engine {

class Backoff {
 public:
  // Once between one question and the next.
  void pause() {
    ++pauses_;
    if (pauses_ <= kAwake) return;
    if (pauses_ <= kAwake + kYields) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(sleep_ + sleep_ / 2, kLongest);
  }
  // Whether pauses are long enough by now for a look at the clock.
  [[nodiscard]] bool is_asleep() const { return pauses_ > kAwake + kYields; }
  void reset() { *this = Backoff(); }

 private:
  static constexpr int kAwake = 50;  // a question takes about a microsecond
  static constexpr int kYields = 200;
  static constexpr std::chrono::microseconds kLongest{1000};

  int pauses_ = 0;
  std::chrono::microseconds sleep_{20};
};

}  // namespace fourhold::engine

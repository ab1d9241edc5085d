// The one door to threads: everything the engine does on several cores goes through here.
//
// The number of threads is the plan's; nothing asks the machine. Work is split by fixed rules, so
// that a result depends on the number of threads only where its caller says so.
#pragma once

#include <cstdint>
#include <type_traits>

namespace fourhold::engine {

// A range of items [begin, end) and the worker (0 to threads - 1) that does it.
struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int worker = 0;
};

// The share of `worker` when `count` items are cut into `threads` contiguous ranges whose sizes
// differ by one at most, larger ones first.
[[nodiscard]] constexpr Share share_of(std::int64_t count, int threads, int worker) {
  const std::int64_t each = count / threads;
  const std::int64_t rest = count % threads;
  const std::int64_t begin = worker * each + (worker < rest ? worker : rest);
  return {begin, begin + each + (worker < rest ? 1 : 0), worker};
}

namespace detail {
using WorkerFunction = void (*)(void* context, int worker);
void run_workers(int threads, WorkerFunction function, void* context);
}  // namespace detail

// Calls body(worker) once for each worker, at the same time, and returns when all are done. The
// body must not throw. Nested calls run their workers one after another.
template <typename Body>
void on_each_worker(int threads, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::run_workers(
      threads, [](void* context, int worker) { (*static_cast<Plain*>(context))(worker); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

// Calls body(Share) for each worker whose share of `count` items is not empty.
template <typename Body>
void parallel_for(std::int64_t count, int threads, Body&& body) {
  on_each_worker(threads, [&](int worker) {
    const Share share = share_of(count, threads, worker);
    if (share.begin < share.end) body(share);
  });
}

}  // namespace fourhold::engine

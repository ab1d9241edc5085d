#include "fourhold/engine/threads/parallel.h"

#include <omp.h>

#include <cassert>

#if defined(__SANITIZE_THREAD__)
#include <thread>
#include <vector>
#endif

namespace fourhold::engine::detail {

void run_workers(int threads, WorkerFunction function, void* context) {
  assert(threads >= 1 && "a plan has at least one thread");
  if (threads == 1 || omp_in_parallel() != 0) {
    for (int worker = 0; worker < threads; ++worker) function(context, worker);
    return;
  }
#if defined(__SANITIZE_THREAD__)
  // The sanitizer does not know OpenMP's barriers and would report races that are none.
  std::vector<std::thread> others;
  for (int worker = 1; worker < threads; ++worker) others.emplace_back(function, context, worker);
  function(context, 0);
  for (std::thread& other : others) other.join();
#else
#pragma omp parallel num_threads(threads)
  {
    // OpenMP may give fewer threads than asked for; every worker's share is done all the same.
    for (int worker = omp_get_thread_num(); worker < threads; worker += omp_get_num_threads()) {
      function(context, worker);
    }
  }
#endif
}

}  // namespace fourhold::engine::detail

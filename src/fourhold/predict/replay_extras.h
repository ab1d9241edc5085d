// What a framework holds beside a program's tensors, as a replay of its allocator needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fourhold::predict {

// Memory that a framework may hold beside what the ledger counts, from step to step.
struct Extra {
  std::int64_t bytes = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

// Gradients that each end with their micro-batch's backward.
class FreshGradients {
 public:
  void begin(std::int64_t bytes, std::int64_t now) { list_.push_back({bytes, now, -1}); }
  void end(std::int64_t now) {
    for (; ended_ < list_.size(); ++ended_) list_[ended_].last_step = now;
  }
  [[nodiscard]] std::vector<Extra> take() { return std::move(list_); }

 private:
  std::vector<Extra> list_;
  std::size_t ended_ = 0;
};

// When an entry of the ledger has memory, where that differs; none where it ends before it begins.
struct Lifetime {
  std::int32_t entry = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

// Blocks whose sharded weights and gradients travel in flat pieces.
struct ShardMessages {
  std::vector<Lifetime> weights;        // the copies out of them, entries ascending
  std::vector<Extra> gathers;           // what a block's weights arrive in
  std::vector<Extra> reductions;        // what its gradients leave in
  std::vector<std::int32_t> gradients;  // entries that reduction makes, ascending
};

}  // namespace fourhold::predict

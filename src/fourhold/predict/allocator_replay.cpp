#include "fourhold/predict/allocator_replay.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "fourhold/predict/host_lead.h"

namespace fourhold::predict {
namespace {

using ledger::Category;

// A block that each step asks for again.
struct Request {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t bytes = 0;
  bool deferred = false;
  Stream stream = Stream::compute;
};

// Asks of ascending entries whether they are in an ascending list.
class Places {
 public:
  explicit Places(const std::vector<std::int32_t>& entries)
      : next_(entries.begin()), end_(entries.end()) {}
  [[nodiscard]] bool reach(std::size_t entry) {
    while (next_ != end_ && static_cast<std::size_t>(*next_) < entry) ++next_;
    return next_ != end_ && static_cast<std::size_t>(*next_) == entry;
  }

 private:
  std::vector<std::int32_t>::const_iterator next_;
  std::vector<std::int32_t>::const_iterator end_;
};

class ReplayedRun {
 public:
  ReplayedRun(const ExpandedRun& run, const ReplayRules& rules, std::int64_t capacity_bytes)
      : run_(run), rules_(rules), allocator_(capacity_bytes, rules.segments) {
    sort_out();
    order();
  }

  AllocatorReplay run() {
    AllocatorReplay result;
    bool room = start();
    for (std::int64_t& reserved : result.reserved_peak_bytes) {
      room = room && step(&reserved == &result.reserved_peak_bytes.front());
      reserved = allocator_.reserved_peak_bytes();
    }
    result.allocated_peak_bytes = allocator_.allocated_peak_bytes();
    result.flushed = allocator_.flushes() > 0;
    result.out_of_memory = !room;
    return result;
  }

 private:
  // State that is there before the first step, state that the first update makes, and requests.
  void sort_out() {
    const std::vector<ledger::Entry>& entries = run_.ledger.entries;
    for (const ledger::Entry& entry : entries) steps_ = std::max(steps_, entry.last_step + 1);
    Places travelling(run_.collective_tensors);
    Places gathered(run_.gathered);
    const bool own_streams = rules_.shard_streams == plan::ShardStreams::own && rules_.shards > 1;
    Places reduced(run_.messages.gradients);
    auto copy = run_.messages.weights.begin();
    auto workspace = run_.workspaces.begin();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const ledger::Entry& entry = entries[i];
      const bool travels = travelling.reach(i);
      if (gathered.reach(i) && rules_.gather_buffers == plan::GatherBuffers::two_for_all) continue;
      if (entry.place != ledger::Place::device || entry.bytes == Bytes(0)) continue;
      if (workspace != run_.workspaces.end() && static_cast<std::size_t>(workspace->entry) == i) {
        late_workspaces_.push_back({.first_step = workspace->step, .bytes = entry.bytes.count()});
        ++workspace;
        continue;
      }
      const Stream stream = own_streams && reduced.reach(i) ? Stream::reduce : Stream::compute;
      if (own_streams && copy != run_.messages.weights.end() &&
          static_cast<std::size_t>(copy->entry) == i) {
        if (copy->first_step <= copy->last_step) {
          requests_.push_back({copy->first_step, copy->last_step, entry.bytes.count()});
        }
        ++copy;
        continue;
      }
      const bool lasts = entry.first_step == 0 && entry.last_step + 1 == steps_;
      if (!lasts) {
        requests_.push_back(
            {entry.first_step, entry.last_step, entry.bytes.count(),
             travels && rules_.deferred_collectives == plan::DeferredCollectives::yes, stream});
      } else if (entry.category == Category::optimizer_state &&
                 rules_.optimizer_state == plan::StateCreation::first_update) {
        late_state_.push_back(entry.bytes.count());
      } else {
        state_.push_back(entry.bytes.count());
      }
    }
    if (rules_.fresh_gradients == plan::FreshGradients::until_backward_ends) {
      for (const Extra& gradient : run_.fresh_gradients) request(gradient, gradient.bytes);
    }
    if (rules_.updated_weights == plan::UpdatedWeights::flat_copies) gather_updates();
    if (!own_streams) return;
    for (const Extra& message : run_.messages.gathers) {
      request(message, message.bytes, Stream::gather);
    }
    for (const Extra& message : run_.messages.reductions) request(message, message.bytes);
  }

  void request(const Extra& when, std::int64_t bytes, Stream stream = Stream::compute) {
    requests_.push_back({when.first_step, when.last_step, bytes, false, stream});
  }

  // The rank's own part, one copy for each rank's, and all of them once more in one piece.
  void gather_updates() {
    const Extra& all = run_.gathered_updates;
    if (all.bytes == 0 || rules_.shards == 1) return;
    const std::int64_t part = (all.bytes + rules_.shards - 1) / rules_.shards;
    for (std::int64_t i = 0; i < rules_.shards + 1; ++i) request(all, part);
    request(all, part * rules_.shards);
  }

  // By the step they begin at, in the order of the program, and by the step they end at.
  void order() {
    std::stable_sort(requests_.begin(), requests_.end(), [](const Request& a, const Request& b) {
      return a.first_step < b.first_step;
    });
    ends_.resize(static_cast<std::size_t>(steps_));
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      ends_[static_cast<std::size_t>(requests_[i].last_step)].push_back(i);
    }
    blocks_.resize(requests_.size());
  }

  [[nodiscard]] HostStep host_at(std::int64_t step) const {
    return run_.host.empty() ? HostStep{} : run_.host[static_cast<std::size_t>(step)];
  }

  [[nodiscard]] bool keep(const std::vector<std::int64_t>& state) {
    return std::all_of(state.begin(), state.end(), [this](std::int64_t bytes) {
      return allocator_.allocate(bytes) != CachingAllocator::kOutOfMemory;
    });
  }
  // A library asks for its workspace when it is first called, between the blocks of that moment.
  [[nodiscard]] bool make_workspaces(std::int64_t now) {
    return std::all_of(late_workspaces_.begin(), late_workspaces_.end(),
                       [this, now](const Request& one) {
                         return one.first_step != now ||
                                allocator_.allocate(one.bytes) != CachingAllocator::kOutOfMemory;
                       });
  }
  [[nodiscard]] bool start() { return keep(state_); }

  [[nodiscard]] bool step(bool first) {
    std::size_t next = 0;
    auto wait = run_.waits.begin();
    for (std::int64_t now = 0; now < steps_; ++now) {
      const HostStep host = host_at(now);
      launched_ += host.launches;
      allocator_.complete_up_to(launched_ - kLaunchQueue);
      if (first && now == run_.optimizer_step && !keep(late_state_)) return false;
      for (; next < requests_.size() && requests_[next].first_step == now; ++next) {
        blocks_[next] = allocator_.allocate(requests_[next].bytes, requests_[next].stream);
        if (blocks_[next] == CachingAllocator::kOutOfMemory) return false;
      }
      if (first && !make_workspaces(now)) return false;
      if (wait != run_.waits.end() && *wait == now) {
        allocator_.complete();
        ++wait;
      }
      for (const std::size_t request : ends_[static_cast<std::size_t>(now)]) {
        if (requests_[request].deferred && host.ahead) {
          allocator_.release_deferred(blocks_[request], launched_);
        } else {
          allocator_.release(blocks_[request]);
        }
      }
    }
    return true;
  }

  const ExpandedRun& run_;
  const ReplayRules& rules_;
  CachingAllocator allocator_;
  std::int64_t steps_ = 0;
  std::int64_t launched_ = 0;  // kernels, in all steps so far
  std::vector<std::int64_t> state_;
  std::vector<std::int64_t> late_state_;
  std::vector<Request> late_workspaces_;
  std::vector<Request> requests_;
  std::vector<std::vector<std::size_t>> ends_;  // per step: requests it is the last of
  std::vector<CachingAllocator::Block> blocks_;
};

}  // namespace

ReplayRules replay_rules(const plan::Profile& profile, const plan::Plan& plan) {
  return {.optimizer_state = profile.optimizer_state_created,
          .deferred_collectives = profile.deferred_collectives,
          .gather_buffers = profile.gather_buffers,
          .segments = profile.segments,
          .shard_streams = profile.shard_streams,
          .fresh_gradients = profile.fresh_gradients,
          .updated_weights = profile.updated_weights,
          .shards = plan.dp * plan.cp / plan.shard_groups};
}

AllocatorReplay replay_allocator(const ExpandedRun& run, const ReplayRules& rules,
                                 std::int64_t capacity_bytes) {
  return ReplayedRun(run, rules, capacity_bytes).run();
}

}  // namespace fourhold::predict

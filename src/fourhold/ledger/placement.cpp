#include "fourhold/ledger/placement.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/ledger/block.h"
#include "fourhold/ledger/lowest_fit.h"
#include "fourhold/ledger/skyline.h"
#include "fourhold/ledger/timeline.h"

namespace fourhold::ledger {
namespace {

// Rounds of improvement, and how many of them in a row may bring nothing. Small arenas are cheap
// and gain most; 500 blocks must take less than a millisecond (bench/placement_bench.cpp).
std::int64_t most_rounds(std::int64_t blocks) {
  return std::clamp<std::int64_t>(1500 / blocks, 4, 16);
}
std::int64_t patience(std::int64_t blocks) { return std::clamp<std::int64_t>(500 / blocks, 1, 8); }

// Above this the quadratic heuristic is left out: it would take more than a few tenths of a second.
constexpr std::size_t kMostForLowestFit = 25'000;

std::int64_t round_up(std::int64_t bytes, std::int64_t alignment) {
  return checked_add(bytes, alignment - 1) & ~(alignment - 1);
}

// From the block of an entry to its own bytes: the guard, rounded so that these are aligned.
std::int64_t lead_bytes(const PlacementOptions& options) {
  return round_up(options.guard_bytes, options.alignment_bytes);
}

// The entries of the arena as blocks. Those alive throughout take part in every overlap: they lie
// at the bottom at no loss, and the heuristics need not see them.
struct Problem {
  std::vector<std::size_t> always;  // entries
  std::vector<std::size_t> sometimes;
  std::vector<std::int64_t> always_bytes;
  std::vector<Block> blocks;  // of `sometimes`
};

std::vector<std::int64_t> ticks_of(const std::vector<Entry>& entries,
                                   const std::vector<std::size_t>& members) {
  std::vector<std::int64_t> ticks;
  ticks.reserve(members.size());
  for (const std::size_t i : members) ticks.push_back(entries[i].first_step);
  std::sort(ticks.begin(), ticks.end());
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  return ticks;
}

Problem problem_of(const std::vector<Entry>& entries, const PlacementOptions& options) {
  const std::int64_t guards = checked_add(lead_bytes(options), options.guard_bytes);
  std::vector<std::size_t> members;
  std::int64_t all = 0;  // no offset can exceed it, so later sums need no check
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].place != options.place) continue;
    const std::int64_t bytes = checked_add(entries[i].bytes.count(), guards);
    if (bytes == 0) continue;
    all = checked_add(all, round_up(bytes, options.alignment_bytes));
    members.push_back(i);
  }

  const std::vector<std::int64_t> ticks = ticks_of(entries, members);
  const auto tick_at = [&ticks](std::int64_t step) {
    const auto behind = std::upper_bound(ticks.begin(), ticks.end(), step);
    return static_cast<std::int32_t>(behind - ticks.begin() - 1);
  };
  Problem problem;
  for (const std::size_t i : members) {
    const Block block{tick_at(entries[i].first_step), tick_at(entries[i].last_step),
                      round_up(entries[i].bytes.count() + guards, options.alignment_bytes)};
    if (block.ticks() == static_cast<std::int64_t>(ticks.size())) {
      problem.always.push_back(i);
      problem.always_bytes.push_back(block.bytes);
    } else {
      problem.sometimes.push_back(i);
      problem.blocks.push_back(block);
    }
  }
  return problem;
}

// The most bytes of blocks alive at one tick: no stack is lower.
std::int64_t least_height(const std::vector<Block>& blocks) {
  std::int32_t ticks = 0;
  for (const Block& block : blocks) ticks = std::max(ticks, block.last + 1);
  std::vector<std::int64_t> change(static_cast<std::size_t>(ticks) + 1, 0);
  for (const Block& block : blocks) {
    change[static_cast<std::size_t>(block.first)] += block.bytes;
    change[static_cast<std::size_t>(block.last) + 1] -= block.bytes;
  }
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (const std::int64_t bytes : change) peak = std::max(peak, live += bytes);
  return peak;
}

// Largest value first; ties by index.
template <class Value>
BlockOrder descending(const std::vector<Block>& blocks, const Value& value) {
  BlockOrder order(blocks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto value_a = value(blocks[static_cast<std::size_t>(a)]);
    const auto value_b = value(blocks[static_cast<std::size_t>(b)]);
    return value_a != value_b ? value_a > value_b : a < b;
  });
  return order;
}

// The blocks that stick out above `height` go first, the others keep their order behind them.
BlockOrder raised(const BlockOrder& order, const std::vector<Block>& blocks, const Stack& stack,
                  std::int64_t height) {
  BlockOrder next = order;
  std::stable_partition(next.begin(), next.end(), [&](std::int32_t index) {
    const auto i = static_cast<std::size_t>(index);
    return stack.offsets[i] + blocks[i].bytes > height;
  });
  return next;
}

// The lowest stack of a fixed series of attempts, the earliest of equals. No attempt is best for
// all programs: by area wins with gathered weights and recomputation, by size with pipelines.
Stack best_stack(const std::vector<Block>& blocks) {
  const std::int64_t goal = least_height(blocks);
  Stack best;
  best.height = std::numeric_limits<std::int64_t>::max();
  const auto reaches_goal = [&best, goal](const Stack& stack) {
    if (stack.height < best.height) best = stack;
    return best.height == goal;
  };

  const auto n = static_cast<std::int64_t>(blocks.size());
  std::array<BlockOrder, 2> priorities{
      descending(blocks, [](const Block& b) { return b.area(); }),
      descending(blocks, [](const Block& b) { return std::pair(b.ticks(), b.bytes); })};
  std::int64_t improved = 0;  // the last round that did
  for (std::int64_t round = 0; round < most_rounds(n) && round - improved <= patience(n); ++round) {
    const std::int64_t before = best.height;
    for (BlockOrder& priority : priorities) {
      const Stack stack = fill_skyline(blocks, priority);
      if (reaches_goal(stack)) return best;
      priority = raised(priority, blocks, stack, goal);
    }
    if (round == 0 && blocks.size() <= kMostForLowestFit) {
      const BlockOrder by_size =
          descending(blocks, [](const Block& b) { return std::pair(b.bytes, b.ticks()); });
      if (reaches_goal(lowest_fit(blocks, by_size))) return best;
    }
    if (best.height < before) improved = round;
  }
  return best;
}

struct Arrangement {
  std::vector<std::int64_t> offsets;
  Bytes arena_bytes;
};

Arrangement arrange(const std::vector<Entry>& entries, const PlacementOptions& options) {
  const Problem problem = problem_of(entries, options);
  const std::int64_t lead = lead_bytes(options);

  Arrangement made;
  made.offsets.assign(entries.size(), Placement::kNotPlaced);
  // What takes no room may lie anywhere.
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].place == options.place) made.offsets[i] = 0;
  }
  std::int64_t bottom = 0;
  for (std::size_t i = 0; i < problem.always.size(); ++i) {
    made.offsets[problem.always[i]] = bottom + lead;
    bottom += problem.always_bytes[i];
  }
  if (!problem.blocks.empty()) {
    const Stack stack = best_stack(problem.blocks);
    for (std::size_t i = 0; i < problem.sometimes.size(); ++i) {
      made.offsets[problem.sometimes[i]] = bottom + stack.offsets[i] + lead;
    }
  }
  // Rounding behind the highest entry is not needed.
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (made.offsets[i] == Placement::kNotPlaced) continue;
    const Bytes end(made.offsets[i] + entries[i].bytes.count() + options.guard_bytes);
    made.arena_bytes = std::max(made.arena_bytes, end);
  }
  return made;
}

}  // namespace

void require_valid(const PlacementOptions& options) {
  const std::int64_t alignment = options.alignment_bytes;
  if (alignment < 1 || (alignment & (alignment - 1)) != 0) {
    throw Error("alignment_bytes", fmt::format("is {}; it must be a power of two", alignment),
                "use 64, the size of a cache line");
  }
  if (options.guard_bytes < 0) {
    throw Error("guard_bytes", fmt::format("is {}; it must be at least 0", options.guard_bytes),
                "use 0 for no guards");
  }
}

Placement place(const std::vector<Entry>& entries, const PlacementOptions& options) {
  require_expanded(entries);
  require_valid(options);
  Arrangement made = arrange(entries, options);
  Bytes reserved = made.arena_bytes;
  if (options.guard_bytes > 0) {
    PlacementOptions unguarded = options;
    unguarded.guard_bytes = 0;
    reserved = arrange(entries, unguarded).arena_bytes;
  }
  return {std::move(made.offsets), made.arena_bytes, reserved};
}

}  // namespace fourhold::ledger

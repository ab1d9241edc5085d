#include "fourhold/ledger/skyline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "fourhold/ledger/unplaced_blocks.h"

namespace fourhold::ledger {
namespace {

// A stretch of ticks over which the stack is equally high.
struct Valley {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t height = 0;
};

// The lowest valley first, the leftmost of equals.
struct IsHigher {
  bool operator()(const Valley& a, const Valley& b) const {
    return a.height != b.height ? a.height > b.height : a.first > b.first;
  }
};

// The heights over all ticks as valleys; neighbours of equal height are one valley.
class Skyline {
 public:
  explicit Skyline(std::int32_t ticks)
      : last_(static_cast<std::size_t>(ticks), kNoValley),
        first_(static_cast<std::size_t>(ticks), kNoValley),
        height_(static_cast<std::size_t>(ticks)) {
    put({0, ticks - 1, 0});
  }

  // Takes the lowest valley out; its ticks must be put back.
  [[nodiscard]] Valley take_lowest() {
    while (!is_current(queue_.top())) queue_.pop();
    const Valley valley = queue_.top();
    queue_.pop();
    erase(valley);
    return valley;
  }

  // The height of the lower wall of a valley that was taken out. It has at least one wall.
  [[nodiscard]] std::int64_t lower_wall(const Valley& valley) const {
    const bool has_left = valley.first > 0;
    const bool has_right = valley.last + 1 < static_cast<std::int32_t>(last_.size());
    const std::int64_t left = has_left ? height_before(valley.first) : 0;
    const std::int64_t right = has_right ? at(height_, valley.last + 1) : 0;
    if (has_left && has_right) return std::min(left, right);
    return has_left ? left : right;
  }

  void put(Valley valley) {
    if (valley.first > 0 && at(first_, valley.first - 1) != kNoValley &&
        height_before(valley.first) == valley.height) {
      const Valley left{at(first_, valley.first - 1), valley.first - 1, valley.height};
      erase(left);
      valley.first = left.first;
    }
    const std::int32_t behind = valley.last + 1;
    if (behind < static_cast<std::int32_t>(last_.size()) && at(last_, behind) != kNoValley &&
        at(height_, behind) == valley.height) {
      const Valley right{behind, at(last_, behind), valley.height};
      erase(right);
      valley.last = right.last;
    }
    at(last_, valley.first) = valley.last;
    at(first_, valley.last) = valley.first;
    at(height_, valley.first) = valley.height;
    queue_.push(valley);
  }

 private:
  static constexpr std::int32_t kNoValley = -1;

  template <class T>
  static T& at(std::vector<T>& values, std::int32_t tick) {
    return values[static_cast<std::size_t>(tick)];
  }
  template <class T>
  static const T& at(const std::vector<T>& values, std::int32_t tick) {
    return values[static_cast<std::size_t>(tick)];
  }
  [[nodiscard]] std::int64_t height_before(std::int32_t tick) const {
    return at(height_, at(first_, tick - 1));
  }
  [[nodiscard]] bool is_current(const Valley& valley) const {
    return at(last_, valley.first) == valley.last && at(height_, valley.first) == valley.height;
  }
  void erase(const Valley& valley) {
    at(last_, valley.first) = kNoValley;
    at(first_, valley.last) = kNoValley;
  }

  std::vector<std::int32_t> last_;    // by a valley's first tick; kNoValley elsewhere
  std::vector<std::int32_t> first_;   // by a valley's last tick; kNoValley elsewhere
  std::vector<std::int64_t> height_;  // by a valley's first tick
  std::priority_queue<Valley, std::vector<Valley>, IsHigher> queue_;  // holds outdated ones too
};

}  // namespace

Stack fill_skyline(const std::vector<Block>& blocks, const BlockOrder& priority) {
  Stack stack;
  stack.offsets.resize(blocks.size());
  if (blocks.empty()) return stack;
  std::int32_t ticks = 0;
  for (const Block& block : blocks) ticks = std::max(ticks, block.last + 1);

  UnplacedBlocks unplaced(blocks, priority);
  Skyline skyline(ticks);
  for (std::size_t left = blocks.size(); left > 0;) {
    const Valley valley = skyline.take_lowest();
    const std::int32_t index = unplaced.best_within(valley.first, valley.last);
    if (index == UnplacedBlocks::kNone) {  // too narrow for all: its ticks up to the wall are lost
      skyline.put({valley.first, valley.last, skyline.lower_wall(valley)});
      continue;
    }
    const Block& block = blocks[static_cast<std::size_t>(index)];
    const std::int64_t top = valley.height + block.bytes;
    if (valley.first < block.first) {
      skyline.put({valley.first, block.first - 1, valley.height});
    }
    if (block.last < valley.last) skyline.put({block.last + 1, valley.last, valley.height});
    skyline.put({block.first, block.last, top});
    stack.offsets[static_cast<std::size_t>(index)] = valley.height;
    stack.height = std::max(stack.height, top);
    unplaced.remove(index);
    --left;
  }
  return stack;
}

}  // namespace fourhold::ledger

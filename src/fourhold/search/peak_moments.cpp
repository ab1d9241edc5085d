#include "fourhold/search/peak_moments.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace fourhold::search {
namespace {

using predict::AliveCounts;
using predict::Moment;
using predict::StageMoment;

struct Found {
  StageMoment moment;
  AliveCounts alive;
};

bool same_work(const StageMoment& a, const StageMoment& b) {
  return a.moment == b.moment && a.block == b.block && a.gathered_next == b.gathered_next &&
         a.first_backward == b.first_backward &&
         a.forward_gradients_waiting == b.forward_gradients_waiting;
}

bool at_least(const std::vector<std::int64_t>& large, const std::vector<std::int64_t>& small) {
  return std::equal(large.begin(), large.end(), small.begin(),
                    [](std::int64_t a, std::int64_t b) { return a >= b; });
}

bool covers(const AliveCounts& large, const AliveCounts& small) {
  return at_least(large.kept, small.kept) && at_least(large.born, small.born);
}

class Collector final : public predict::MomentVisitor {
 public:
  explicit Collector(bool births) : births_(births) {}

  void visit(const StageMoment& visited, const AliveCounts& alive) override {
    // The optimizer step weighs the same however the stage came there.
    if (visited.moment == Moment::optimizer) return;
    StageMoment moment = visited;
    // Persistent gradients weigh the same at the first backward as at any other.
    if (!births_) moment.first_backward = false;
    for (const Found& other : moments_) {
      if (same_work(other.moment, moment) && covers(other.alive, alive)) return;
    }
    std::erase_if(moments_, [&](const Found& other) {
      return same_work(other.moment, moment) && covers(alive, other.alive);
    });
    moments_.push_back({moment, alive});
  }

  [[nodiscard]] std::vector<Found> take() { return std::move(moments_); }

 private:
  bool births_;
  std::vector<Found> moments_;
};

}  // namespace

PeakMoments peak_moments(const predict::MomentInput& stage, const predict::SlotStates& slots) {
  const bool births = stage.gradient_lifetime == plan::GradientLifetime::backward_to_step;
  Collector collector(births);
  predict::visit_moments(stage, slots, collector);
  PeakMoments moments;
  moments.blocks = stage.blocks->blocks.size();
  const std::vector<Found> all = collector.take();
  const auto is_new = [&](std::size_t i) {
    return std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Found& other) { return same_work(other.moment, all[i].moment); });
  };
  std::size_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_new(i)) continue;
    moments.works.push_back(all[i].moment);
    for (std::size_t k = i; k < all.size(); ++k) {
      if (!same_work(all[k].moment, all[i].moment)) continue;
      const AliveCounts& alive = all[k].alive;
      moments.kept.insert(moments.kept.end(), alive.kept.begin(), alive.kept.end());
      if (births) moments.born.insert(moments.born.end(), alive.born.begin(), alive.born.end());
      ++count;
    }
    moments.ends.push_back(count);
  }
  return moments;
}

void weigh_alive(const PeakMoments& moments, const std::vector<predict::BlockBytes>& blocks,
                 std::vector<std::int64_t>& most) {
  most.assign(moments.works.size(), 0);
  std::size_t moment = 0;
  for (std::size_t work = 0; work < most.size(); ++work) {
    for (; moment < moments.ends[work]; ++moment) {
      const std::size_t row = moment * moments.blocks;
      std::int64_t sum = 0;
      for (std::size_t block = 0; block < moments.blocks; ++block) {
        sum += moments.kept[row + block] * blocks[block].kept_bytes;
      }
      for (std::size_t block = 0; !moments.born.empty() && block < moments.blocks; ++block) {
        sum += moments.born[row + block] * blocks[block].backward_births;
      }
      most[work] = std::max(most[work], sum);
    }
  }
}

}  // namespace fourhold::search

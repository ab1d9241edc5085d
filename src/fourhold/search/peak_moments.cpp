#include "fourhold/search/peak_moments.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace fourhold::search {
namespace {

using predict::AliveCounts;
using predict::Moment;
using predict::StageMoment;

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
  void visit(const StageMoment& moment, const AliveCounts& alive) override {
    // The optimizer step weighs the same however the stage came there.
    if (moment.moment == Moment::optimizer) return;
    for (const PeakMoment& other : moments_) {
      if (same_work(other.moment, moment) && covers(other.alive, alive)) return;
    }
    std::erase_if(moments_, [&](const PeakMoment& other) {
      return same_work(other.moment, moment) && covers(alive, other.alive);
    });
    moments_.push_back({moment, alive});
  }

  [[nodiscard]] std::vector<PeakMoment> take() { return std::move(moments_); }

 private:
  std::vector<PeakMoment> moments_;
};

}  // namespace

std::vector<PeakMoment> peak_moments(const predict::MomentInput& stage,
                                     const predict::SlotStates& slots) {
  Collector collector;
  predict::visit_moments(stage, slots, collector);
  return collector.take();
}

}  // namespace fourhold::search

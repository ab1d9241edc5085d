#include "fourhold/search/peak_moments.h"

#include <algorithm>
#include <cstddef>

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

// Keeps of each work the rows of counts that no other row covers. A row is kept and, where
// gradients are born, born counts behind it.
class Gathering {
 public:
  Gathering(std::size_t blocks, bool births) : blocks_(blocks), births_(births) {}

  void offer(const StageMoment& moment, const std::int64_t* kept, const std::int64_t* born) {
    row_.assign(kept, kept + blocks_);
    if (births_) row_.insert(row_.end(), born, born + blocks_);
    std::vector<std::int64_t>& rows = rows_of(moment);
    for (std::size_t at = 0; at < rows.size(); at += row_.size()) {
      if (covers(&rows[at], row_.data())) return;
    }
    for (std::size_t at = 0; at < rows.size();) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(at);
      if (covers(row_.data(), &rows[at])) {
        rows.erase(begin, begin + static_cast<std::ptrdiff_t>(row_.size()));
      } else {
        at += row_.size();
      }
    }
    rows.insert(rows.end(), row_.begin(), row_.end());
  }

  [[nodiscard]] PeakMoments table() const {
    PeakMoments table;
    table.blocks = blocks_;
    table.works.reserve(works_.size());
    table.ends.reserve(works_.size());
    const std::size_t width = births_ ? 2 * blocks_ : blocks_;
    std::size_t numbers = 0;
    for (const Work& work : works_) numbers += work.rows.size();
    table.kept.reserve(births_ ? numbers / 2 : numbers);
    std::size_t count = 0;
    for (const Work& work : works_) {
      for (std::size_t at = 0; at < work.rows.size(); at += width) {
        const auto row = work.rows.begin() + static_cast<std::ptrdiff_t>(at);
        const auto middle = row + static_cast<std::ptrdiff_t>(blocks_);
        table.kept.insert(table.kept.end(), row, middle);
        if (births_) {
          table.born.insert(table.born.end(), middle,
                            middle + static_cast<std::ptrdiff_t>(blocks_));
        }
        ++count;
      }
      table.works.push_back(work.moment);
      table.ends.push_back(count);
    }
    return table;
  }

 private:
  struct Work {
    StageMoment moment;
    std::vector<std::int64_t> rows;
  };

  std::vector<std::int64_t>& rows_of(const StageMoment& moment) {
    for (Work& work : works_) {
      if (same_work(work.moment, moment)) return work.rows;
    }
    return works_.emplace_back(Work{moment, {}}).rows;
  }

  [[nodiscard]] bool covers(const std::int64_t* large, const std::int64_t* small) const {
    for (std::size_t i = 0; i < row_.size(); ++i) {
      if (large[i] < small[i]) return false;
    }
    return true;
  }

  std::size_t blocks_;
  bool births_;
  std::vector<std::int64_t> row_;
  std::vector<Work> works_;
};

class Collector final : public predict::MomentVisitor {
 public:
  Collector(std::size_t blocks, bool births) : gathering_(blocks, births), births_(births) {}

  void visit(const StageMoment& visited, const AliveCounts& alive) override {
    // The optimizer step weighs the same however the stage came there.
    if (visited.moment == Moment::optimizer) return;
    StageMoment moment = visited;
    // Persistent gradients weigh the same at the first backward as at any other.
    if (!births_) moment.first_backward = false;
    gathering_.offer(moment, alive.kept.data(), alive.born.data());
  }

  [[nodiscard]] PeakMoments table() const { return gathering_.table(); }

 private:
  Gathering gathering_;
  bool births_;
};

}  // namespace

void Works::name(PeakMoments& moments) {
  moments.names.clear();
  for (const StageMoment& work : moments.works) {
    std::size_t place = 0;
    while (place < list_.size() && !same_work(list_[place], work)) ++place;
    if (place == list_.size()) list_.push_back(work);
    moments.names.push_back(place);
  }
}

PeakMoments peak_moments(const predict::MomentInput& stage, const predict::SlotStates& slots) {
  const bool births = stage.gradient_lifetime == plan::GradientLifetime::backward_to_step;
  Collector collector(stage.blocks->blocks.size(), births);
  predict::visit_moments(stage, slots, collector);
  return collector.table();
}

PeakMoments narrowed(const PeakMoments& moments, const plan::StateMotion& motion) {
  const bool births = !moments.born.empty();
  Gathering gathering(moments.blocks, births);
  std::size_t row = 0;
  for (std::size_t i = 0; i < moments.works.size(); ++i) {
    StageMoment work = moments.works[i];
    const bool happens = work.moment != Moment::reduce_block || motion.reduces_each_block;
    if (!motion.gathers_blocks) work.gathered_next = -1;
    for (; row < moments.ends[i]; ++row) {
      if (!happens) continue;
      const std::size_t at = row * moments.blocks;
      gathering.offer(work, &moments.kept[at], births ? &moments.born[at] : nullptr);
    }
  }
  return gathering.table();
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

// The moments of a stage that can hold its peak, whatever its blocks weigh: a few of hundreds.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/predict/moment_bytes.h"
#include "fourhold/predict/stage_moments.h"

namespace fourhold::search {

// The moments as a table, so that weighing them is a run over numbers. Moments of equal work stand
// together: they differ in what waits beside it.
struct PeakMoments {
  std::size_t blocks = 0;
  std::vector<predict::StageMoment> works;
  std::vector<std::size_t> names;  // per work: its place in a Works list
  std::vector<std::size_t> ends;   // per work: one past its last moment
  std::vector<std::int64_t> kept;  // per moment and block: see predict::AliveCounts
  std::vector<std::int64_t> born;  // the same; empty where gradients are persistent
};

// The different works of many tables: a storage weighs each of them once.
class Works {
 public:
  // Names the works of a table.
  void name(PeakMoments& moments);
  [[nodiscard]] const std::vector<predict::StageMoment>& list() const { return list_; }

 private:
  std::vector<predict::StageMoment> list_;
};

// Of equal work, those that find most alive: no other moment of the stage can weigh more.
[[nodiscard]] PeakMoments peak_moments(const predict::MomentInput& stage,
                                       const predict::SlotStates& slots);

// The table of a lesser motion, from that of one that gathers and reduces: what is not gathered is
// not gathered ahead, and without reduction per block that moment does not come. Not for stages
// whose forward makes gradients (the chunked loss): how long those wait depends on the motion.
[[nodiscard]] PeakMoments narrowed(const PeakMoments& moments, const plan::StateMotion& motion);

// The most predict::alive_bytes of each work's moments, into `most`.
void weigh_alive(const PeakMoments& moments, const std::vector<predict::BlockBytes>& blocks,
                 std::vector<std::int64_t>& most);

}  // namespace fourhold::search

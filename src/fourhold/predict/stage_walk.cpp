#include "fourhold/predict/stage_walk.h"

namespace fourhold::predict {
namespace {

class Fullest final : public MomentVisitor {
 public:
  explicit Fullest(const StageBytes& stage) : stage_(stage) {}

  void visit(const StageMoment& moment, const AliveCounts& alive) override {
    const DirectionPeak here = moment_bytes(moment, alive, stage_);
    if (here.bytes <= peak_.bytes) return;
    static_cast<StageMoment&>(peak_) = moment;
    static_cast<AliveCounts&>(peak_) = alive;
    peak_.bytes = here.bytes;
    peak_.step = here.step;
  }

  [[nodiscard]] const PeakPosition& peak() const { return peak_; }

 private:
  const StageBytes& stage_;
  PeakPosition peak_;
};

}  // namespace

StageWalk walk_stage(const WalkInput& input) {
  Fullest fullest(*input.bytes);
  StageWalk walk;
  static_cast<StageCounts&>(walk) = visit_moments(*input.program, *input.blocks, *input.lifetimes,
                                                  input.gradient_lifetime, fullest);
  walk.peak = fullest.peak();
  return walk;
}

}  // namespace fourhold::predict

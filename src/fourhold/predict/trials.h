// Changes to a plan, each tried by predicting again: what answers are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/predict/answers.h"

namespace fourhold::predict {

// The plan whose failure is to be cured, and the answers found so far.
struct Trials {
  const model::ModelConfig& config;
  const plan::Plan& plan;
  const plan::Profile& profile;
  const MemoryPrediction& memory;
  const Capacity& capacity;
  ShortOf short_of;
  std::vector<Answer> answers{};

  // The change as predicted, or nothing where that plan is not legal.
  [[nodiscard]] std::optional<Answer> attempt(const std::string& change, plan::Plan changed) const;

  // How far a change leads: 2 to a fit, if need be with a second change on the same devices; 1 from
  // a state failure to an activation failure, 0 nowhere.
  [[nodiscard]] int progress(const Answer& answer) const;

  // Devices that may stand in one machine.
  [[nodiscard]] std::int64_t node() const;

  // Tries changes of one kind from the smallest on, and keeps the smallest that leads furthest; of
  // those that lead nowhere the one that saves most within a node or on the devices there are.
  class Kind {
   public:
    explicit Kind(Trials& trials) : trials_(trials) {}
    // True when no further change of this kind is worth trying.
    bool offer(const std::string& change, const plan::Plan& changed);
    void keep();

   private:
    Trials& trials_;
    std::optional<Answer> best_;
    int progress_ = 0;
  };

 private:
  [[nodiscard]] Bytes held(const MemoryPrediction& predicted) const;  // of the memory that is short
  [[nodiscard]] bool ends_state_failure(const Answer& answer) const;
};

}  // namespace fourhold::predict

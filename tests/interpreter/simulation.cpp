#include "tests/interpreter/simulation.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tests/interpreter/fault.h"
#include "tests/interpreter/rank.h"

namespace fourhold::interpreter {
namespace {

// Replicas add in another order at most: they agree to rounding.
constexpr double kReplicaTolerance = 1e-12;

// Puts pieces of parameters together; overlapping ones must agree.
class Assembly {
 public:
  explicit Assembly(const ParameterValues& like) : like_(like) {}

  void add(const ParameterState::Piece& piece) {
    const std::size_t size = like_.at(piece.key).size();
    std::vector<double>& whole = whole_[piece.key];
    std::vector<bool>& seen = seen_[piece.key];
    whole.resize(size, 0.0);
    seen.resize(size, false);
    if (piece.elements.size() != piece.values.size()) {
      throw ProgramFault(to_string(piece.key) + " ends with another size than it has");
    }
    for (std::size_t i = 0; i < piece.elements.size(); ++i) {
      const double value = piece.values[i];
      if (piece.elements[i] == kPadding) {
        if (value != 0) throw ProgramFault(to_string(piece.key) + " has a padded row that moves");
        continue;
      }
      const auto element = static_cast<std::size_t>(piece.elements[i]);
      if (seen[element] &&
          std::abs(whole[element] - value) > kReplicaTolerance * (1 + std::abs(value))) {
        throw ProgramFault("replicas of " + to_string(piece.key) + " disagree: " +
                           std::to_string(whole[element]) + " and " + std::to_string(value));
      }
      whole[element] = value;
      seen[element] = true;
    }
  }

  [[nodiscard]] ParameterValues take() {
    for (const auto& [key, seen] : seen_) {
      for (const bool one : seen) {
        if (!one) throw ProgramFault("no rank holds all of " + to_string(key));
      }
    }
    return std::move(whole_);
  }

 private:
  const ParameterValues& like_;
  ParameterValues whole_;
  std::map<ParameterKey, std::vector<bool>> seen_;
};

}  // namespace

Simulation::Simulation(const model::ModelConfig& config, const plan::Plan& plan,
                       const plan::Profile& profile)
    : config_(config), plan_(plan), profile_(profile) {
  plan::validate(plan, config, profile);
  blocks_ = plan::lower_blocks(config, plan, profile);
}

Outcome Simulation::train_step(const ParameterValues& values) const {
  return run(values, plan::ProgramKind::train_step);
}

double Simulation::evaluate(const ParameterValues& values) const {
  return run(values, plan::ProgramKind::evaluate).loss;
}

Outcome Simulation::run(const ParameterValues& values, plan::ProgramKind kind) const {
  const Setting setting{config_, plan_, plan::switches_of(plan_, profile_),
                        make_batch(plan_.global_batch, plan_.seq, config_.vocab)};
  std::vector<plan::Program> programs;
  std::vector<std::vector<plan::StepInstance>> steps;
  for (std::int64_t stage = 0; stage < plan_.pp; ++stage) {
    programs.push_back(plan::lower(config_, blocks_, plan_, profile_, stage, kind));
    std::vector<plan::StepInstance>& list = steps.emplace_back();
    plan::expand(programs.back(), blocks_, [&](const plan::StepInstance& step) {
      if (step.work != left_out_) list.push_back(step);
    });
  }
  Meetings meetings;
  Mail mail;
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::int64_t rank = 0; rank < plan_.devices(); ++rank) {
    const auto stage = static_cast<std::size_t>(plan::coordinates(plan_, rank).pp);
    ranks.push_back(std::make_unique<Rank>(setting, blocks_, programs[stage], steps[stage], rank,
                                           meetings, mail, values));
  }
  for (bool moved = true; moved;) {
    const std::int64_t posts = meetings.posts;
    moved = false;
    for (const auto& rank : ranks) {
      while (rank->advance()) moved = true;
    }
    moved = moved || meetings.posts > posts;
  }
  Outcome outcome;
  Assembly gradients(values);
  Assembly weights(values);
  for (const auto& rank : ranks) {
    if (!rank->done()) {
      std::string text = "the ranks wait for each other:";
      for (const auto& each : ranks) text += "\n  " + each->where();
      throw ProgramFault(text);
    }
  }
  for (std::int64_t i = 0; i < plan_.devices(); ++i) {
    const Rank& rank = *ranks[static_cast<std::size_t>(i)];
    const std::int64_t tp = plan::coordinates(plan_, i).tp;
    if (rank.own_loss() != ranks[static_cast<std::size_t>(i - tp)]->own_loss()) {
      throw ProgramFault("ranks of one tp group have different losses");
    }
    outcome.loss = rank.loss();
    if (rank.loss() != ranks[0]->loss()) throw ProgramFault("ranks log different losses");
    if (kind == plan::ProgramKind::evaluate) continue;
    rank.check_at_rest();
    for (const auto& piece : rank.parameters().gradients()) gradients.add(piece);
    for (const auto& piece : rank.parameters().weights()) weights.add(piece);
    outcome.norm = rank.parameters().norm();
  }
  outcome.gradients = gradients.take();
  outcome.weights = weights.take();
  return outcome;
}

namespace {

double norm_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

Difference difference(const ParameterValues& expected, const ParameterValues& found) {
  double all = 0;
  for (const auto& [key, values] : expected) all = std::hypot(all, norm_of(values));
  Difference worst;
  for (const auto& [key, values] : expected) {
    const auto other = found.find(key);
    if (other == found.end()) return {1, to_string(key) + " is missing"};
    const double scale = std::max(norm_of(values), 1e-3 * all);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double apart = std::abs(values[i] - other->second[i]);
      // Not a number is the worst there is.
      if (apart == 0 || apart / scale <= worst.relative) continue;
      worst = {apart / scale, to_string(key) + "[" + std::to_string(i) + "] " +
                                  std::to_string(values[i]) + " against " +
                                  std::to_string(other->second[i])};
      if (!std::isfinite(apart)) return worst;
    }
  }
  for (const auto& [key, values] : found) {
    if (expected.count(key) == 0) return {1, to_string(key) + " should not be there"};
  }
  return worst;
}

}  // namespace fourhold::interpreter

// The check is not blind: whatever is taken out of a program, its run fails or its numbers change.
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/interpreter/fault.h"
#include "tests/interpreter/models.h"
#include "tests/interpreter/plans.h"
#include "tests/interpreter/simulation.h"

namespace fourhold::interpreter {
namespace {

using plan::AccessMode;
using plan::Collective;
using plan::ProgramBlock;
using plan::Step;

// A thousand times what the comparison of splits accepts.
constexpr double kNoticed = 1e-7;

class Subject {
 public:
  Subject(const model::ModelConfig& config, const plan::Plan& plan,
          const plan::Profile& profile = any_profile())
      : simulation_(config, finished(plan, config), profile),
        values_(make_parameters(config, plan::switches_of(finished(plan, config), profile))),
        expected_(simulation_.train_step(values_)) {}

  [[nodiscard]] plan::ProgramBlocks& blocks() { return simulation_.blocks(); }
  void leave_out(std::optional<plan::Work> work) { simulation_.leave_out(work); }

  // True if a step now fails, or computes something else.
  [[nodiscard]] bool notices() const {
    try {
      const Outcome found = simulation_.train_step(values_);
      return std::abs(found.loss - expected_.loss) > kNoticed ||
             difference(expected_.gradients, found.gradients).relative > kNoticed ||
             difference(expected_.weights, found.weights).relative > kNoticed;
    } catch (const ProgramFault&) {
      return true;
    }
  }

 private:
  Simulation simulation_;
  ParameterValues values_;
  Outcome expected_;
};

// Models and plans that together use every collective and every kind of work.
std::vector<Subject> subjects() {
  const auto policy = [](const std::string& text) { return plan::recompute_from_string(text); };
  return {Subject(with_dropout(tiny_gpt2(2)), {.pp = 2, .dp = 2, .zero = 1, .grad_accum = 2}),
          Subject(tiny_gpt2(2), {.tp = 2, .dp = 2, .recompute = policy("selective:norm")}),
          Subject(tiny_llama(2), {.tp = 4, .sp = true, .recompute = policy("selective")}),
          Subject(tiny_llama(2), {.cp = 2, .dp = 2, .zero = 3, .recompute = policy("full:1")}),
          Subject(tiny_olmo2(2),
                  {.tp = 2, .sp = true, .dp = 2, .zero = 2, .recompute = policy("full")}),
          Subject(tiny_qwen2_moe(2), {.tp = 2, .sp = true, .ep = 2, .dp = 2, .zero = 2})};
}

std::string where(const ProgramBlock& block, const Step& step) {
  return std::string(model::to_string(block.sharded.operations.block)) + " operation " +
         std::to_string(step.operation) + " phase " + std::to_string(static_cast<int>(step.phase));
}

// Calls visit for every step of every block.
void for_each_step(Subject& subject, const std::function<void(const ProgramBlock&, Step&)>& visit) {
  for (ProgramBlock& block : subject.blocks().blocks) {
    for (Step& step : block.forward) visit(block, step);
    for (Step& step : block.backward) visit(block, step);
  }
}

TEST(Mutations, EveryKeptTensorIsMissed) {
  for (Subject& subject : subjects()) {
    for (ProgramBlock& block : subject.blocks().blocks) {
      for (plan::ProgramTensor& tensor : block.tensors) {
        if (!tensor.kept) continue;
        tensor.kept = false;
        EXPECT_TRUE(subject.notices()) << model::to_string(tensor.name);
        tensor.kept = true;
      }
    }
  }
}

TEST(Mutations, EveryCollectiveIsMissed) {
  for (Subject& subject : subjects()) {
    for_each_step(subject, [&](const ProgramBlock& block, Step& step) {
      const plan::OperationCollective before = step.collective;
      // Forward, a copy moves nothing: its backward is a step of its own.
      if (before.kind == Collective::none || before.kind == Collective::copy) return;
      step.collective = {};
      EXPECT_TRUE(subject.notices()) << where(block, step);
      step.collective = before;
    });
  }
}

TEST(Mutations, EveryWriteOfAGradientIsMissed) {
  for (Subject& subject : subjects()) {
    for_each_step(subject, [&](const ProgramBlock& block, Step& step) {
      const Step before = step;
      step.writes_gradients.clear();
      if (!before.writes_gradients.empty()) {
        EXPECT_TRUE(subject.notices()) << where(block, step);
      }
      step = before;
      // A gradient that overwrites what it should add to.
      for (plan::Access& access : step.accesses) {
        if (access.mode != AccessMode::accumulate) continue;
        access.mode = AccessMode::write;
        EXPECT_TRUE(subject.notices()) << where(block, step);
        access.mode = AccessMode::accumulate;
      }
    });
  }
}

TEST(Mutations, EveryRecomputedTensorIsMissed) {
  for (Subject& subject : subjects()) {
    for (ProgramBlock& block : subject.blocks().blocks) {
      const std::vector<Step> before = block.backward;
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i].phase != plan::Phase::recompute) continue;
        block.backward.erase(block.backward.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_TRUE(subject.notices()) << where(block, before[i]);
        block.backward = before;
      }
    }
  }
}

// What frameworks keep out of habit, and no gradient needs.
bool is_habit(const Step& step, const std::string& operation, const plan::ProgramTensor& tensor) {
  const std::set<std::string> habits{
      "cross_entropy logits",   // eager_held: the 16-bit logits stay referenced
      "permute permuted",       // keep_permuted_rows
      "router router_logits"};  // keep_router_logits
  return step.phase == plan::Phase::backward && tensor.role == ledger::Role::value &&
         habits.count(operation + " " + std::string(model::to_string(tensor.name))) == 1;
}

void expect_every_read_is_missed(const model::ModelConfig& config, const plan::Profile& profile) {
  Subject subject(config, {}, profile);
  for_each_step(subject, [&](const ProgramBlock& block, Step& step) {
    const Step before = step;
    const auto& op = block.sharded.operations.operations[static_cast<std::size_t>(step.operation)];
    const std::string operation(model::to_string(op.kind));
    for (int i = 0; i < before.accesses.size(); ++i) {
      if (before.accesses[i].mode != AccessMode::read) continue;
      step.accesses.clear();
      for (int k = 0; k < before.accesses.size(); ++k) {
        if (k != i) step.accesses.push_back(before.accesses[k]);
      }
      const plan::ProgramTensor& tensor =
          block.tensors[static_cast<std::size_t>(before.accesses[i].tensor)];
      EXPECT_NE(subject.notices(), is_habit(step, operation, tensor))
          << operation << " reads " << model::to_string(tensor.name);
      step = before;
    }
  });
}

TEST(Mutations, EveryReadIsMissed) {
  for (const model::ModelConfig& config :
       {with_dropout(tiny_gpt2(1)), tiny_gemma2(2), tiny_deepseek(2, 5)}) {
    expect_every_read_is_missed(config, any_profile());
  }
  std::vector<plan::Profile> profiles(7, any_profile());
  profiles[0].switches.attention = model::AttentionSaving::unfused;
  profiles[1].switches.attention = model::AttentionSaving::unfused_wide;
  profiles[2].switches.norm = model::NormSaving::wide;
  profiles[3].switches.activation = model::ActivationSaving::unfused;
  profiles[4].switches.loss = model::LossSaving::eager_held;
  profiles[5].switches.expert_scaling = model::ExpertScaling::inside_activation;
  profiles[6].switches.keep_router_logits = true;
  for (const plan::Profile& profile : profiles) {
    expect_every_read_is_missed(with_dropout(tiny_gpt_oss(2)), profile);
  }
}

// Each kind of work is something to at least one of the plans (sums over one rank are not).
TEST(Mutations, EveryKindOfWorkIsMissed) {
  using plan::Work;
  std::vector<Subject> all = subjects();
  for (int i = 0; i <= static_cast<int>(Work::gather_updated); ++i) {
    const auto work = static_cast<Work>(i);
    if (work == Work::end_micro_batch) continue;  // marks a place, and does nothing
    bool noticed = false;
    for (Subject& subject : all) {
      subject.leave_out(work);
      noticed = noticed || subject.notices();
      subject.leave_out(std::nullopt);
    }
    EXPECT_TRUE(noticed) << "work " << i;
  }
}

}  // namespace
}  // namespace fourhold::interpreter

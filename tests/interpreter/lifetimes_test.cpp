// What the lowered blocks hold, and for how long: nothing is kept, made or named in vain.
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/plan/lora_targets.h"
#include "fourhold/plan/program.h"
#include "tests/interpreter/models.h"
#include "tests/interpreter/plans.h"

namespace fourhold::interpreter {
namespace {

using plan::Access;
using plan::AccessMode;
using plan::Phase;
using plan::ProgramBlock;
using plan::ProgramTensor;
using plan::Step;

std::string name_of(const ProgramTensor& tensor) {
  return std::string(model::to_string(tensor.name)) +
         (tensor.role == ledger::Role::gradient ? ".gradient" : "");
}

class BlockCheck {
 public:
  explicit BlockCheck(const ProgramBlock& block) : block_(block) {}

  void run() const {
    every_kept_storage_is_read_later();
    every_write_is_read_or_leaves();
    every_parameter_is_used();
    every_storage_has_its_own_name();
  }

 private:
  [[nodiscard]] const ProgramTensor& tensor(std::int16_t id) const {
    return block_.tensors[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] bool accesses(const Step& step, std::int16_t storage, bool reads) const {
    for (const Access& access : step.accesses) {
      const bool read = access.mode != AccessMode::write;
      if (tensor(access.tensor).storage == storage && read == reads) return true;
    }
    return false;
  }

  void every_kept_storage_is_read_later() const {
    for (std::size_t i = 0; i < block_.tensors.size(); ++i) {
      if (!block_.tensors[i].kept) continue;
      const auto id = static_cast<std::int16_t>(i);
      bool read = id == block_.input_gradient;  // made by a chunked loss, and handed on
      for (const Step& step : block_.backward) read = read || accesses(step, id, true);
      EXPECT_TRUE(read) << name_of(tensor(id)) << " is kept, but no later step reads it";
    }
  }

  // By the next step that touches the storage, whichever list it is in. Where an operation makes
  // several tensors at once, one of them must be.
  void every_write_is_read_or_leaves() const {
    std::vector<const Step*> steps;
    for (const Step& step : block_.forward) steps.push_back(&step);
    for (const Step& step : block_.backward) steps.push_back(&step);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      bool useful = !steps[i]->writes_gradients.empty();
      std::string names;
      for (const Access& access : steps[i]->accesses) {
        if (access.mode == AccessMode::read) continue;
        if (tensor(access.tensor).role == ledger::Role::transient) continue;
        names += " " + name_of(tensor(access.tensor));
        useful =
            useful || leaves(access.tensor) || read_after(steps, i, tensor(access.tensor).storage);
      }
      EXPECT_TRUE(useful) << "operation " << steps[i]->operation << " in phase "
                          << static_cast<int>(steps[i]->phase) << " makes only" << names
                          << ", which nobody reads";
    }
  }
  [[nodiscard]] bool leaves(std::int16_t id) const {
    return tensor(id).storage == tensor(block_.output).storage ||
           (block_.input_gradient >= 0 &&
            tensor(id).storage == tensor(block_.input_gradient).storage);
  }
  [[nodiscard]] bool read_after(const std::vector<const Step*>& steps, std::size_t index,
                                std::int16_t storage) const {
    for (std::size_t i = index + 1; i < steps.size(); ++i) {
      if (accesses(*steps[i], storage, true)) return true;
      if (accesses(*steps[i], storage, false)) return false;  // overwritten first
    }
    return false;
  }

  void every_parameter_is_used() const {
    std::set<std::int16_t> read;
    std::set<std::int16_t> trained;
    for (const std::vector<Step>* list : {&block_.forward, &block_.backward}) {
      for (const Step& step : *list) {
        read.insert(step.reads_parameters.begin(), step.reads_parameters.end());
        trained.insert(step.writes_gradients.begin(), step.writes_gradients.end());
      }
    }
    for (std::size_t i = 0; i < block_.sharded.parameters.size(); ++i) {
      const model::BlockParameter& use = block_.sharded.parameters[i].use;
      const std::string_view name = model::to_string(use.parameter.name);
      EXPECT_EQ(read.count(static_cast<std::int16_t>(i)), 1U) << name << " is not used";
      EXPECT_EQ(trained.count(static_cast<std::int16_t>(i)), use.trainable ? 1U : 0U) << name;
    }
  }

  // A ledger books by name: two storages of one name would be one entry.
  void every_storage_has_its_own_name() const {
    std::map<std::tuple<model::TensorName, model::Variant, ledger::Role>, int> count;
    for (std::size_t i = 0; i < block_.tensors.size(); ++i) {
      const ProgramTensor& each = block_.tensors[i];
      const bool owner = each.storage == static_cast<std::int16_t>(i);
      if (!owner || each.role == ledger::Role::transient || !is_touched(each.storage)) continue;
      EXPECT_EQ(++count[std::make_tuple(each.name, each.variant, each.role)], 1)
          << name_of(each) << " names two storages";
    }
  }
  [[nodiscard]] bool is_touched(std::int16_t storage) const {
    for (const std::vector<Step>* list : {&block_.forward, &block_.backward}) {
      for (const Step& step : *list) {
        if (accesses(step, storage, true) || accesses(step, storage, false)) return true;
      }
    }
    return false;
  }

  const ProgramBlock& block_;
};

std::vector<plan::Profile> profiles() {
  std::vector<plan::Profile> list(8, any_profile());
  for (const plan::Profile& profile : adapter_profiles()) list.push_back(profile);
  list[1].switches.attention = model::AttentionSaving::unfused;
  list[2].switches.attention = model::AttentionSaving::unfused_wide;
  list[3].switches.norm = model::NormSaving::wide;
  list[4].switches.activation = model::ActivationSaving::unfused;
  list[5].switches.loss = model::LossSaving::in_place;
  list[6].switches.loss = model::LossSaving::eager_held;
  list[7].switches.expert_scaling = model::ExpertScaling::inside_activation;
  list[7].switches.keep_permuted_rows = false;
  list[7].switches.keep_router_logits = true;
  return list;
}

std::vector<plan::Plan> plans() {
  std::vector<plan::Plan> list(7);
  list[1].tp = 2;
  list[2].tp = 2;
  list[2].sp = true;
  list[3].tp = 4;
  list[3].sp = true;
  list[3].dp = 2;
  list[4].loss_chunk = 5;
  list[5].tuning = plan::Tuning::lora;
  list[5].lora_rank = 2;
  list[5].tp = 2;
  list[5].sp = true;
  list[6].tuning = plan::Tuning::qlora;
  list[6].lora_rank = 2;
  list[6].lora_targets = plan::lora_targets_from_string("q");
  list[6].lora_dropout = 0.1;
  return list;
}

TEST(Lifetimes, NothingIsKeptMadeOrNamedInVain) {
  std::vector<NamedModel> models = all_models(2);
  for (const NamedModel& model : models) {
    const bool experts = model.config.kinds.back().feed_forward.experts > 0;
    for (plan::Plan plan : plans()) {
      if (experts && plan.dp == 2) plan.ep = 2;
      for (const std::string policy :
           {"none", "selective", "selective:norm", "selective:activation",
            "selective:attention,norm,activation", "full"}) {
        plan.recompute = plan::recompute_from_string(policy);
        for (std::size_t i = 0; i < profiles().size(); ++i) {
          SCOPED_TRACE(model.name + ", recompute " + policy + ", profile " + std::to_string(i) +
                       ", " + plan::to_string(finished(plan, model.config)));
          const plan::ProgramBlocks blocks =
              plan::lower_blocks(model.config, finished(plan, model.config), profiles()[i]);
          for (const ProgramBlock& block : blocks.blocks) BlockCheck(block).run();
        }
      }
    }
  }
}

}  // namespace
}  // namespace fourhold::interpreter

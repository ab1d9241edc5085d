#include "fourhold/predict/sample_ledger.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fourhold/ledger/timeline.h"
#include "fourhold/plan/expand.h"
#include "fourhold/plan/sample_candidates.h"
#include "fourhold/predict/expanded_entries.h"
#include "fourhold/predict/state.h"

namespace fourhold::predict {
namespace {

using ledger::Category;
using plan::StepInstance;
using plan::Work;

// The entries of one pass.
class PassExpander {
 public:
  PassExpander(const plan::SamplePass& pass, std::int64_t vocab, ExpandedEntries& entries)
      : pass_(pass), vocab_(vocab), entries_(entries) {}

  void run() {
    entries_.enter(pass_.blocks);
    plan::expand(pass_.program, pass_.blocks, [&](const StepInstance& at) {
      visit(at);
      entries_.next_step();
    });
  }

 private:
  [[nodiscard]] const plan::ProgramBlock& block(const StepInstance& at) const {
    return pass_.blocks.blocks[static_cast<std::size_t>(at.block)];
  }
  [[nodiscard]] std::int16_t owner(const StepInstance& at, std::int16_t tensor) const {
    return block(at).tensors[static_cast<std::size_t>(tensor)].storage;
  }

  void visit(const StepInstance& at) {
    if (at.work == Work::load_ids) {
      border_ = entries_.add_tensor(at, owner(at, block(at).input));
    } else if (at.work == Work::compute) {
      compute(at);
    } else {
      entries_.use(border_);  // the logits
      entries_.add_stage_tensor({.name = plan::kCandidatesName,
                                 .role = ledger::Role::buffer,
                                 .category = Category::scratch,
                                 .dtype = plan::kCandidatesType,
                                 .elements = vocab_},
                                0);
    }
  }

  void compute(const StepInstance& at) {
    const plan::ProgramBlock& own = block(at);
    for (const plan::Access& access : at.step->accesses) {
      const std::int16_t storage = owner(at, access.tensor);
      if (own.tensors[static_cast<std::size_t>(storage)].category == Category::kv_cache) continue;
      const auto [found, is_new] = made_.try_emplace({at.block, at.layer, storage});
      if (is_new) {
        const bool enters = storage == owner(at, own.input);
        found->second = enters ? enter(at, storage) : entries_.add_tensor(at, storage);
      }
      entries_.use(found->second);
    }
    if (at.step != &own.forward.back()) return;
    border_ = made_.at({at.block, at.layer, owner(at, own.output)});
    entries_.use(border_);
  }

  // What the block before left, under the name it has here.
  std::int32_t enter(const StepInstance& at, std::int16_t storage) {
    if (at.block != pass_.blocks.embedding) entries_.rename(border_, at, storage);
    return border_;
  }

  const plan::SamplePass& pass_;
  std::int64_t vocab_;
  ExpandedEntries& entries_;
  std::map<std::tuple<std::int16_t, std::int32_t, std::int16_t>, std::int32_t> made_;
  std::int32_t border_ = ExpandedEntries::kNone;  // what stands between two blocks
};

// Weights and caches, of the pass that runs all blocks.
void add_residents(const plan::SamplePass& pass, ExpandedEntries& entries) {
  entries.enter(pass.blocks);
  const TiedCopy tied = tied_copy(pass.program.plan, pass.blocks);
  for (const plan::BlockInstance& at : plan::block_instances(pass.program.chunks[0], pass.blocks)) {
    const plan::ProgramBlock& block = pass.blocks.blocks[static_cast<std::size_t>(at.block)];
    const StepInstance place{.block = at.block, .layer = at.layer};
    const BlockState held = block_state(block, pass.program, tied);
    for (std::size_t p = 0; p < held.parameters.size(); ++p) {
      for (const ResidentTensor& tensor : held.parameters[p].resident) {
        entries.use_throughout(entries.add_resident(place, p, tensor));
      }
    }
    for (std::size_t i = 0; i < block.tensors.size(); ++i) {
      if (block.tensors[i].category != Category::kv_cache) continue;
      entries.use_throughout(entries.add_tensor(place, static_cast<std::int16_t>(i)));
    }
  }
}

}  // namespace

ledger::Ledger sample_ledger(const model::ModelConfig& config, const plan::Plan& plan,
                             const plan::Profile& profile, const plan::SampleSizes& sizes) {
  const std::vector<plan::SamplePass> passes = plan::lower_sample(config, plan, profile, sizes);
  ExpandedEntries entries(passes.back().blocks);
  for (const plan::SamplePass& pass : passes) PassExpander(pass, config.vocab, entries).run();
  add_residents(passes.back(), entries);
  ledger::Ledger ledger;
  ledger.entries = entries.take();
  ledger::mark_peak(ledger);
  return ledger;
}

}  // namespace fourhold::predict

#include "fourhold/engine/train/run_data.h"

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/builtin_text.h"

namespace fourhold::engine {
namespace {

data::TokenSource open_data(const TrainSetup& setup) {
  if (setup.data.path == data::kBuiltinName) return data::builtin_tokens(setup.model.vocab);
  return data::open_tokens(setup.data.path,
                           {.model_vocabulary = setup.model.vocab,
                            .tokenizer_vocabulary = setup.data.tokenizer_vocabulary,
                            .format = {}});
}

}  // namespace

RunData::RunData(const TrainSetup& setup)
    : micro_batch_(setup.plan.micro_batch),
      source_(open_data(setup)),
      dataset_(source_, {.length = setup.plan.seq,
                         .seed = setup.options.seed,
                         .held_out_share = setup.data.held_out_share}) {
  const std::string few = too_few_held_out();
  if (few.empty() || !setup.evaluate_every) return;
  throw Error("--evaluate-every", few, "a larger --held-out, a smaller --batch, or more data");
}

std::string RunData::too_few_held_out() const {
  const std::int64_t held_out = dataset_.split().held_out;
  if (held_out == 0 || held_out >= micro_batch_) return {};
  return counted(held_out, "held-out sequence") + ", less than a micro-batch of " +
         std::to_string(micro_batch_) + ": nothing is evaluated";
}

}  // namespace fourhold::engine

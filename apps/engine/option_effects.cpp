#include "apps/engine/option_effects.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/builtin_text.h"

namespace fourhold::engine_app {
namespace {

// `why` names the other option.
void refuse(bool given, const std::string& flag, const std::string& why,
            const std::string& hint = "leave it out") {
  if (given) throw Error(flag, "has no effect: " + why, hint);
}

void refuse_of_optimizer(const api::TrainRequest& request, const plan::Plan& plan) {
  const std::string sgd = "--optimizer sgd has a momentum alone, which is --beta1";
  switch (plan.optimizer) {
    case plan::Optimizer::sgd_momentum:
      refuse(request.beta2.has_value(), "--beta2", sgd);
      refuse(request.epsilon.has_value(), "--epsilon", sgd);
      break;
    case plan::Optimizer::lion:
      refuse(request.epsilon.has_value(), "--epsilon", "--optimizer lion divides by nothing");
      break;
    default:
      break;
  }
}

void refuse_of_folder(const api::TrainRequest& request) {
  if (!request.out.empty()) return;
  constexpr std::string_view kAdd = "add --out FOLDER, or leave it out";
  const std::string none = "nothing is saved without --out";
  refuse(request.save_every.has_value(), "--save-every", none, std::string(kAdd));
  refuse(request.keep.has_value(), "--keep", none, std::string(kAdd));
}

// More tokens than there are would be one piece, as without chunks.
void refuse_of_chunk(const plan::Plan& plan) {
  const std::int64_t tokens = plan.micro_batch * (plan.seq / plan.cp);
  if (plan.loss_chunk <= tokens) return;
  throw Error("--loss-chunk",
              fmt::format("{} tokens are more than the {} of a rank's micro-batch",
                          format_count(plan.loss_chunk), format_count(tokens)),
              fmt::format("use at most {}, or leave it out", tokens));
}

}  // namespace

void refuse_options_without_effect(const api::TrainRequest& request, const plan::Plan& plan) {
  refuse_of_optimizer(request, plan);
  refuse_of_folder(request);
  refuse_of_chunk(plan);
  refuse(request.min_lr.has_value() && request.decay == api::RateDecay::constant, "--min-lr",
         "with --decay constant the rate never falls", "leave one of the two out");
  refuse(request.evaluate_every.has_value() && request.held_out == 0.0, "--evaluate-every",
         "--held-out 0 leaves nothing to evaluate on", "leave one of the two out");
  refuse(request.tokenizer_vocabulary.has_value() && request.data == engine::data::kBuiltinName,
         "--tokenizer-vocabulary", "--data builtin is bytes, whose ids are known");
  refuse(!request.one_rank.empty() && plan.devices() == 1, "--one-rank",
         "one rank has no speed-up over one");
  const bool one_checkpoint = !request.resume.empty() && request.resume != "auto";
  refuse(request.start.has_value() && one_checkpoint, "--start",
         "--resume names the checkpoint to start from", "leave one of the two out");
}

}  // namespace fourhold::engine_app

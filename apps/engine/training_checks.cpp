#include "apps/engine/training_checks.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "apps/engine/disk_checks.h"
#include "apps/engine/engine_plan.h"
#include "apps/engine/model_checks.h"
#include "apps/engine/option_effects.h"
#include "apps/engine/resume_checks.h"
#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/engine/checkpoint/marker.h"
#include "fourhold/model/load_model.h"

namespace fourhold::engine_app {
namespace {

engine::StepOptions step_options(const api::TrainRequest& request, const plan::Plan& plan,
                                 std::int64_t steps) {
  engine::StepOptions options;
  engine::Hyperparameters& own = options.hyperparameters;
  own.optimizer = plan.optimizer;
  own.beta1 = request.beta1.value_or(own.beta1);
  own.beta2 = request.beta2.value_or(own.beta2);
  own.epsilon = request.epsilon.value_or(own.epsilon);
  own.weight_decay = request.weight_decay.value_or(own.weight_decay);
  engine::check_supported(own, plan.precision);
  if (!request.lr) {
    throw Error("--lr", "is missing", "give the learning rate, such as --lr 6e-4");
  }
  options.schedule.peak = *request.lr;
  options.schedule.minimum = request.min_lr.value_or(*request.lr / 10);
  const auto decay = request.decay.value_or(api::RateDecay::cosine);
  static_assert(api::kRateDecayNames == engine::kDecayNames);
  options.schedule.decay = static_cast<engine::Decay>(decay);
  options.schedule.steps = steps;
  options.schedule.warm_up_steps = request.warm_up.value_or(engine::default_warm_up(steps));
  engine::check(options.schedule);
  options.clip_norm = request.clip.value_or(options.clip_norm);
  options.seed = static_cast<std::uint64_t>(request.seed.value_or(1));
  return options;
}

// The folder of MODEL where it holds weights.
// Throws Error where it holds weights of another format and the start is not random.
std::optional<std::string> weights_beside(const std::string& model,
                                          std::optional<api::StartWeights> start) {
  namespace fs = std::filesystem;
  std::error_code fault;
  const fs::path path(model);
  if (path.extension() == ".safetensors" && fs::exists(path, fault)) return model;
  if (!fs::is_directory(path, fault)) return std::nullopt;
  // An index counts as well: of weights whose files are missing it says which.
  constexpr std::string_view kIndex = ".safetensors.index.json";
  std::string other;  // weights of a format that is not read
  for (const fs::directory_entry& entry : fs::directory_iterator(path, fault)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".safetensors" || name.ends_with(kIndex)) return model;
    const bool torch = name.starts_with("pytorch_model") && name.ends_with(".bin");
    if (torch || name.ends_with(".pth") || name.ends_with(".gguf")) other = name;
  }
  if (!other.empty() && start != api::StartWeights::random) {
    throw Error(model, "holds weights as " + other + ", which is not read",
                "convert them to safetensors, or start from random weights: --start random");
  }
  return std::nullopt;
}

engine::CheckpointChoice checkpoint_choice(const api::TrainRequest& request,
                                           const std::string& model) {
  engine::CheckpointChoice choice;
  choice.folder = request.out;
  choice.resume = request.resume;
  require_folder_of_auto(request);
  std::error_code fault;
  const std::filesystem::path out(choice.folder);
  if (!choice.folder.empty() &&
      std::filesystem::exists(out / std::string(engine::kMarkerName), fault)) {
    throw Error(
        "--out", choice.folder + " is one checkpoint, not the folder of a run",
        "name the folder it stands in, such as " + (out / "..").lexically_normal().string());
  }
  const std::optional<std::string> beside = weights_beside(model, request.start);
  if (request.start == api::StartWeights::published && !beside) {
    throw Error("--start", "published, but '" + model + "' holds no weights",
                "name a folder with config.json and .safetensors files");
  }
  if (request.start.value_or(api::StartWeights::published) == api::StartWeights::published) {
    choice.weights = beside;
  }
  choice.save_every = request.save_every;
  choice.keep = static_cast<int>(request.keep.value_or(choice.keep));
  return choice;
}

}  // namespace

CheckedTraining check_training(const api::TrainRequest& request, const api::RunRequest& run) {
  if (request.model.empty()) {
    throw Error("MODEL", "is missing",
                "name what to train, such as `fourhold train gpt2 --steps 100 --lr 6e-4`");
  }
  if (!request.steps) throw Error("--steps", "is missing", "say how many, such as --steps 100");
  CheckedTraining checked{.run = api::load_run(run), .planned = {}, .setup = {}};
  checked.planned = api::complete_plan(checked.run);
  const plan::Plan& plan = checked.planned.plan;
  require_engine_plan(plan);
  refuse_options_without_effect(request, plan);
  const model::ConfigText text = model::load_config_text(run.model);
  engine::TrainSetup& setup = checked.setup;
  setup.numerics = model::read_numerics(text.text, text.name);
  require_kernels(checked.run.model, setup.numerics);
  setup.model = checked.run.model;
  setup.carried = json::parse(text.text, text.name, json::Literals::nan_and_infinity).object();
  setup.plan = plan;
  setup.profile = checked.run.profile;
  setup.data.path = request.data;
  setup.data.tokenizer_vocabulary = request.tokenizer_vocabulary;
  if (request.held_out) setup.data.held_out_share = *request.held_out;
  setup.checkpoints = checkpoint_choice(request, run.model);
  setup.steps = *request.steps;
  setup.options = step_options(request, plan, setup.steps);
  setup.evaluate_every = request.evaluate_every;
  require_disk(setup);
  return checked;
}

}  // namespace fourhold::engine_app

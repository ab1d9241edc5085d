#include "apps/engine/train_setup.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/engine/machine.h"
#include "apps/engine/model_checks.h"
#include "apps/engine/option_effects.h"
#include "apps/engine/resume_checks.h"
#include "apps/engine/training_run.h"
#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run_notes.h"
#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/checkpoint/marker.h"
#include "fourhold/engine/train/process_memory.h"
#include "fourhold/model/load_model.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::engine_app {
namespace {

api::RunRequest run_request(const api::TrainRequest& request) {
  api::RunRequest run = training_run(request);
  // Without a word about dp, it is what the ranks leave for it.
  const std::int64_t ranks = rank_place().started.ranks;
  if (ranks > 1 && !run.plan.count && !run.plan.dp) run.plan.count = ranks;
  run.plan.threads = threads_of(run.plan.threads.value_or(0));
  run.plan.isa = std::string(plan::to_string(use_isa(run.plan.isa)));
  return run;
}

// As a user may repeat it behind mpirun.
std::string command_of(const api::TrainRequest& request) {
  return fmt::format("fourhold train {}{}{} ...", request.model,
                     request.plan_file.empty() ? "" : " ", request.plan_file);
}

void require_engine_plan(const plan::Plan& plan) {
  if (plan.devices() == 1 && plan.zero >= 2) {
    throw Error("--zero", fmt::format("{} shards over ranks, and there is one", plan.zero),
                "leave it out, or give --zero 0");
  }
  for (const auto& [flag, format] : {std::pair{"--first-moment", plan.first_moment},
                                     std::pair{"--second-moment", plan.second_moment}}) {
    if (format == plan::MomentFormat::automatic || format == plan::MomentFormat::fp32) continue;
    throw Error(flag, "is planned below fp32, but the engine updates fp32 moments only",
                "leave it out, or use fp32");
  }
  if (plan.tuning != plan::Tuning::full) {
    throw Error("--tuning", "adapters are planned, but the engine does not run them",
                "train them with Hugging Face PEFT or LitGPT, whose bytes `fourhold predict` knows "
                "by --profile peft or litgpt; or train all weights here: --tuning full");
  }
}

// Whether the engine can run a plan that answers a failure.
bool is_run(const plan::Plan& plan) {
  const bool optimizer = plan.optimizer == plan::Optimizer::adamw ||
                         plan.optimizer == plan::Optimizer::lion ||
                         plan.optimizer == plan::Optimizer::sgd_momentum;
  return optimizer && plan.activation_offload == plan::ActivationOffload::none &&
         plan.tuning == plan::Tuning::full && plan.offload == plan::Offload::none;
}

bool cures(const predict::Answer& answer) {
  return answer.then_class == predict::VerdictClass::fits || answer.then_change.has_value();
}

// The verdict in words, for an Error's hint: the answers one by one, those that cure first.
std::string answers_of(const predict::Verdict& verdict) {
  std::vector<predict::Answer> answers = verdict.answers;
  std::stable_partition(answers.begin(), answers.end(), cures);
  std::string text;
  for (const predict::Answer& answer : answers) {
    if (!is_run(answer.plan)) continue;
    std::string then = cures(answer) ? ", then it fits" : "";
    if (answer.then_change) then += " with " + answer.then_change->change;
    text += fmt::format("{}{} (saves {}{})", text.empty() ? "try " : "; ", answer.change,
                        format_bytes(answer.saves_bytes), then);
  }
  return text.empty() ? "a smaller model, or a machine with more memory" : text;
}

// What a rank may use, where it is enough.
Bytes require_memory(const api::LoadedRun& run, const api::PlannedRun& planned,
                     const api::TrainRequest& request) {
  // Ranks of one node share its memory.
  const std::int64_t sharers = std::min(rank_place().node_ranks, planned.plan.devices());
  const Bytes available(engine::available_memory().count() / sharers);
  const Bytes limit = request.memory ? std::min(*request.memory, available) : available;
  const predict::Capacity capacity{.usable_bytes = std::max(limit - kOutsideAllowance, Bytes(0))};
  const predict::Verdict verdict =
      predict::decide(run.model, planned.plan, run.profile, planned.memory, capacity);
  if (verdict.verdict == predict::VerdictClass::fits) return limit;
  throw Error(
      request.memory && *request.memory <= available ? "--memory" : "memory",
      fmt::format("{}: the run takes {}, and {} is left of {} beside what is kept for the rest "
                  "of the process ({})",
                  predict::to_string(verdict.verdict), format_bytes(planned.memory.reserved_bytes),
                  format_bytes(capacity.usable_bytes), format_bytes(limit),
                  format_bytes(kOutsideAllowance)),
      fmt::format("{}; as it is, it needs --memory {}B ({})", answers_of(verdict),
                  (planned.memory.reserved_bytes + kOutsideAllowance).count(),
                  format_bytes(planned.memory.reserved_bytes + kOutsideAllowance)),
      ExitCode::answer_is_no);
}

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

PreparedTraining prepare_training(const api::TrainRequest& request, const JoinedRanks& ranks) {
  if (request.model.empty()) {
    throw Error("MODEL", "is missing",
                "name what to train, such as `fourhold train gpt2 --steps 100 --lr 6e-4`");
  }
  if (!request.steps) throw Error("--steps", "is missing", "say how many, such as --steps 100");
  const api::RunRequest run_of = run_request(request);
  const api::LoadedRun run = api::load_run(run_of);
  const api::PlannedRun planned = api::complete_plan(run);
  std::vector<std::string> warnings =
      engine::check_ranks({planned.plan.devices(), planned.plan.threads,
                           shared_memory(ranks.place()), command_of(request)},
                          ranks.place());
  require_engine_plan(planned.plan);
  refuse_options_without_effect(request, planned.plan);
  const model::ConfigText text = model::load_config_text(run_of.model);
  PreparedTraining prepared;
  engine::TrainSetup& setup = prepared.setup;
  setup.numerics = model::read_numerics(text.text, text.name);
  require_kernels(run.model, setup.numerics);
  prepared.available_bytes = require_memory(run, planned, request);
  setup.model = run.model;
  setup.carried = json::parse(text.text, text.name, json::Literals::nan_and_infinity).object();
  setup.plan = planned.plan;
  setup.profile = run.profile;
  setup.data.path = request.data;
  setup.data.tokenizer_vocabulary = request.tokenizer_vocabulary;
  if (request.held_out) setup.data.held_out_share = *request.held_out;
  setup.checkpoints = checkpoint_choice(request, run_of.model);
  setup.steps = *request.steps;
  setup.options = step_options(request, planned.plan, setup.steps);
  setup.evaluate_every = request.evaluate_every;
  setup.place = ranks.own();
  prepared.predicted_bytes = planned.memory.reserved_bytes;
  prepared.notes = run.notes;
  api::add_zero_note(planned.plan, prepared.notes);
  prepared.notes.insert(prepared.notes.end(), warnings.begin(), warnings.end());
  if (run.model.position == model::PositionKind::rotary && run.model.max_positions > 0 &&
      planned.plan.seq > run.model.max_positions) {
    prepared.notes.push_back(fmt::format(
        "--seq {} is {} above the model's max_position_embeddings of {}: rotary positions go on, "
        "but weights that are published have not learned them",
        format_count(planned.plan.seq), format_count(planned.plan.seq - run.model.max_positions),
        format_count(run.model.max_positions)));
  }
  if (run.model.dropout > 0 || run.model.attention_dropout > 0 || run.model.embedding_dropout > 0) {
    prepared.notes.emplace_back("the config asks for dropout; the engine trains without");
  }
  return prepared;
}

}  // namespace fourhold::engine_app

#include "fourhold/engine/train/train_run.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/base/version.h"
#include "fourhold/engine/arena/ledger_arena.h"
#include "fourhold/engine/data/builtin_text.h"
#include "fourhold/engine/train/process_memory.h"
#include "fourhold/engine/train/run_data.h"
#include "fourhold/engine/train/run_weights.h"
#include "fourhold/engine/train/starting_point.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/expanded_ledger.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/rank_traffic.h"

namespace fourhold::engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Losses kept in a checkpoint: enough to see where a run stands.
constexpr std::size_t kLossesKept = 100;

// The ledger of the plan's arena, with the size that its placement needs.
ledger::Ledger predicted_ledger(const TrainSetup& setup) {
  const plan::Coordinates at = plan::coordinates(setup.plan, setup.place.rank);
  return predict::expanded_ledger(setup.model, predict::arena_plan(setup.plan), setup.profile,
                                  at.pp);
}

// What a user sets of a run and may change when resuming; kept in checkpoints.
json::Object settings_of(const TrainSetup& setup) {
  const StepOptions& options = setup.options;
  const Schedule& schedule = options.schedule;
  const Hyperparameters& own = options.hyperparameters;
  return {{"steps", setup.steps},
          {"lr", schedule.peak},
          {"min_lr", schedule.minimum},
          {"decay", kDecayNames[static_cast<std::size_t>(schedule.decay)]},
          {"warm_up", schedule.warm_up_steps},
          {"weight_decay", own.weight_decay},
          {"beta1", own.beta1},
          {"beta2", own.beta2},
          {"epsilon", own.epsilon},
          {"clip", options.clip_norm},
          {"global_batch", setup.plan.global_batch},
          {"seq", setup.plan.seq}};
}

// "--min-lr" for "min_lr".
std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

class Run {
 public:
  Run(const TrainSetup& setup, const TrainObserver& observer)
      : setup_(setup),
        observer_(observer),
        data_(setup),
        source_(data_.source()),
        dataset_(data_.dataset()),
        origin_(setup, source_),
        damaged_(origin_.damaged()),
        arena_(predicted_ledger(setup), {.threads = static_cast<int>(setup.plan.threads)}),
        executor_(setup.model, setup.numerics, setup.plan, setup.profile, arena_, Watch::off,
                  setup.place),
        share_(setup.plan, executor_.groups().at()),
        step_(dataset_, setup.plan, setup.options, executor_.groups().at()) {}

  TrainResult run() {
    start();
    std::int64_t step = first_step_;
    for (; step <= setup_.steps; ++step) {
      if (stop_asked()) {
        result_.stopped_early = true;
        break;
      }
      do_step_or_keep(step);
    }
    const std::int64_t done = step - 1;
    if (done >= first_step_) finish(done);
    return report(done);
  }

 private:
  [[nodiscard]] std::string data_text() const {
    if (setup_.data.path != data::kBuiltinName) {
      return setup_.data.path + ", " + source_.description();
    }
    return "built-in text, " + format_count(source_.count()) + " bytes in " +
           format_count(source_.documents()) + " documents";
  }

  // --- beginning ---

  void note_data() const {
    observer_.note("data: " + data_text());
    if (const std::string few = data_.too_few_held_out(); !few.empty())
      observer_.note("note: " + few);
    const std::int64_t training = dataset_.split().training;
    if (training < setup_.plan.global_batch) {
      observer_.note("note: " + counted(training, "training sequence") +
                     ", fewer than a global batch of " + std::to_string(setup_.plan.global_batch) +
                     ": a step takes some again");
    }
  }

  void start() {
    note_data();
    for (const std::string& note : origin_.notes()) observer_.note(note);
    if (origin_.checkpoint()) go_on_from(*origin_.checkpoint());
    origin_.fill(executor_.parameters());
  }

  void go_on_from(const SavedCheckpoint& saved) {
    const std::string& path = saved.path;
    if (saved.run.data.empty()) {
      observer_.note("note: the checkpoint does not say which data it was trained on");
    }
    position_ = data::position_from_json(saved.run.data_position, dataset_.order(), path);
    first_step_ = saved.run.step + 1;
    saved_step_ = saved.run.step;
    tokens_seen_ = saved.run.tokens_seen;
    result_.losses = saved.run.losses;
    kept_losses_ = saved.run.losses.size();
    for (const auto& [name, value] : settings_of(setup_)) {
      const json::Value* before =
          saved.run.schedule.is_object() ? saved.run.schedule.find(name) : nullptr;
      if (before == nullptr || *before == value) continue;
      observer_.note("note: " + flag_of(name) + " was " +
                     json::write(*before, json::Layout::one_line) + ", is " +
                     json::write(value, json::Layout::one_line));
    }
    observer_.note("resumed from " + path + " after step " + std::to_string(saved.run.step));
  }

  // --- steps ---

  // A signal reaches ranks between different steps: they stop together, before the same one.
  [[nodiscard]] bool stop_asked() {
    return sum_over_ranks(std::int64_t{observer_.stop_asked() ? 1 : 0}) > 0;
  }

  template <class T>
  [[nodiscard]] T sum_over_ranks(T own) {
    Collectives* ranks = executor_.collectives();
    return ranks == nullptr ? own : ranks->sum(executor_.groups().of(plan::Axis::world), own);
  }

  // A loss, gradient or update that is not finite ends the run before a weight is written: what is
  // in memory is the step before, which no checkpoint may hold yet. Of several ranks the others may
  // already wait in the next collective, so what they have stays in their last checkpoint.
  void do_step_or_keep(std::int64_t step) {
    try {
      do_step(step);
    } catch (const Error& fault) {
      const bool is_alone = executor_.collectives() == nullptr;
      const bool is_not_finite = fault.exit_code() == ExitCode::answer_is_no;
      if (is_alone && is_not_finite && step > first_step_) save_once(step - 1);
      throw;
    }
  }

  void do_step(std::int64_t step) {
    const Clock::time_point started = Clock::now();
    const std::int64_t sent = executor_.traffic().bytes();
    TrainLine line;
    line.step = step_.run(step, position_, executor_);
    line.seconds = seconds_since(started);
    sent_bytes_ += executor_.traffic().bytes() - sent;
    line.step.stall = {sum_over_ranks(line.step.stall.updates),
                       sum_over_ranks(line.step.stall.lost)};
    position_ = dataset_.order().after(position_, setup_.plan.global_batch);
    tokens_seen_ += setup_.plan.global_batch * setup_.plan.seq;
    result_.losses.push_back(line.step.loss);
    result_.step_seconds.push_back(line.seconds);
    result_.stall += line.step.stall;
    if (setup_.evaluate_every && step % *setup_.evaluate_every == 0) {
      line.held_out_loss = evaluate();
    }
    observer_.line(line);
    const std::optional<std::int64_t>& every = setup_.checkpoints.save_every;
    if (every && step % *every == 0) save(step);
  }

  // The mean loss over all whole micro-batches of held-out sequences. Ranks share them, and run as
  // many times each: where there are none left for one, it computes without targets. None where
  // there are no such sequences, and where a signal ends it.
  std::optional<double> evaluate() {
    const std::int64_t micro_batch = setup_.plan.micro_batch;
    const std::int64_t whole = dataset_.split().held_out / micro_batch;
    std::vector<data::TokenId> ids(static_cast<std::size_t>(micro_batch * setup_.plan.seq));
    std::vector<data::TokenId> targets(ids.size());
    const auto load = [&](const std::vector<data::TokenId>& from) {
      return [&](const Tensor& to) { share_.copy(from, to); };
    };
    double sum = 0;
    std::int64_t tokens = 0;
    for (std::int64_t first = 0; first < whole; first += setup_.plan.dp) {
      if (stop_asked()) {
        result_.evaluation_stopped = true;
        return std::nullopt;
      }
      observer_.evaluating(first, whole);
      const std::int64_t own = first + executor_.groups().at().dp;
      if (own < whole) {
        dataset_.fill_held_out(own * micro_batch, ids, targets);
      } else {
        std::fill(targets.begin(), targets.end(), data::TokenId{-1});
      }
      tokens += share_.learned(targets);
      sum += executor_.evaluate(load(ids), load(targets));
    }
    if (Collectives* ranks = executor_.collectives()) {
      tokens = ranks->sum(executor_.groups().of(plan::Axis::sharding), tokens);
      sum = sum_over_ranks(sum);
    }
    if (tokens == 0) return std::nullopt;
    return sum / static_cast<double>(tokens);
  }

  // --- end ---

  // What was trained is safe before it is evaluated, which may take long.
  void finish(std::int64_t step) {
    save_once(step);
    if (!result_.stopped_early) result_.held_out_loss = evaluate();
  }

  void save_once(std::int64_t step) {
    if (saved_step_ != step) save(step);
  }

  void save(std::int64_t step) {
    if (setup_.checkpoints.folder.empty()) return;
    RunState state;
    state.step = step;
    state.seed = static_cast<std::int64_t>(setup_.options.seed);
    state.tokens_seen = tokens_seen_;
    state.precision = precision_name(setup_.plan);
    state.optimizer = optimizer_name(setup_.plan);
    state.data = origin_.fingerprint();
    state.data_position = data::to_json(position_, dataset_.order());
    state.tokenizer = source_.tokenizer();
    state.schedule = settings_of(setup_);
    state.plan = plan::to_json(setup_.plan);
    state.versions = json::Object{{"fourhold", json::Value(std::string(build_info().version))}};
    const std::size_t count = std::min(result_.losses.size(), kLossesKept);
    state.losses.assign(result_.losses.end() - static_cast<std::ptrdiff_t>(count),
                        result_.losses.end());
    const DType weights = executor_.parameters().front().weight.dtype;
    const Clock::time_point started = Clock::now();
    result_.checkpoint = save_checkpoint(
        {.folder = setup_.checkpoints.folder,
         .keep = setup_.checkpoints.keep,
         .damaged = damaged_,
         .who = {static_cast<int>(setup_.place.rank), static_cast<int>(setup_.plan.devices())},
         .barrier = [this] { (void)sum_over_ranks(std::int64_t{0}); }},
        step, executor_.parameters(),
        {.config = setup_.model, .carried = setup_.carried, .run = state, .weights = weights});
    result_.save_seconds = seconds_since(started);
    saved_step_ = step;
    damaged_.erase(std::remove(damaged_.begin(), damaged_.end(), step), damaged_.end());
  }

  TrainResult report(std::int64_t done) {
    result_.losses.erase(result_.losses.begin(),
                         result_.losses.begin() + static_cast<std::ptrdiff_t>(kept_losses_));
    result_.first_step = first_step_;
    result_.last_step = done;
    result_.predicted = arena_.ledger();
    result_.predicted.reserved_bytes = arena_.placement().reserved_bytes;
    result_.measured = executor_.measured();
    result_.comparison = ledger::compare(result_.predicted, result_.measured);
    const ProcessMemory memory = process_memory();
    result_.peak_resident_bytes = memory.peak;
    result_.arena_bytes = Bytes(arena_.arena().bytes());
    result_.outside_arena_bytes = memory.resident - result_.arena_bytes;
    result_.tokens_per_step = setup_.plan.global_batch * setup_.plan.seq;
    result_.kernels = executor_.kernel_choices();
    result_.ranks = gather_results(own_result(), setup_.place.communicator);
    return std::move(result_);
  }

  [[nodiscard]] RankResult own_result() const {
    const auto steps = static_cast<std::int64_t>(result_.step_seconds.size());
    const predict::RankTraffic traffic =
        predict::rank_traffic(setup_.model, setup_.plan, setup_.profile, setup_.place.rank);
    return {.rank = setup_.place.rank,
            .stage = executor_.groups().at().pp,
            .predicted = totals_of(result_.predicted),
            .measured = totals_of(result_.measured),
            .entries = result_.comparison.entries_a,
            .entries_differing = result_.comparison.entries_differing,
            .predicted_traffic_bytes = steps * traffic.bytes(),
            .measured_traffic_bytes = sent_bytes_,
            .peak_resident_bytes = result_.peak_resident_bytes,
            .arena_bytes = result_.arena_bytes,
            .outside_arena_bytes = result_.outside_arena_bytes};
  }

  const TrainSetup& setup_;
  const TrainObserver& observer_;
  RunData data_;
  const data::TokenSource& source_;
  const data::Dataset& dataset_;
  StartingPoint origin_;
  std::vector<std::int64_t> damaged_;  // checkpoints of its folder that do not count as kept
  LedgerArena arena_;
  Executor executor_;
  TokenShare share_;
  TrainingStep step_;
  std::int64_t sent_bytes_ = 0;  // to other ranks, in steps
  data::DataPosition position_;
  std::int64_t first_step_ = 1;
  std::int64_t saved_step_ = -1;
  std::int64_t tokens_seen_ = 0;
  std::size_t kept_losses_ = 0;  // of those in the result, from before this call
  TrainResult result_;
};

}  // namespace

TrainResult train(const TrainSetup& setup, const TrainObserver& observer) {
  return std::make_unique<Run>(setup, observer)->run();
}

}  // namespace fourhold::engine

// `fourhold train`: what a training run is asked to do. The engine's program answers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fourhold/api/engine_options.h"
#include "fourhold/api/run.h"
#include "fourhold/base/units.h"

namespace fourhold::api {

// How the learning rate goes on after its warm-up.
enum class RateDecay : std::uint8_t { constant, cosine, linear };
inline constexpr std::array<std::string_view, 3> kRateDecayNames{"constant", "cosine", "linear"};

// Where a run starts that has no checkpoint to go on from.
enum class StartWeights : std::uint8_t { random, published };
inline constexpr std::array<std::string_view, 2> kStartWeightsNames{"random", "published"};

struct TrainRequest {
  std::string model;  // name, config.json, or a folder with weights
  std::string plan_file;
  plan::PlanRequest plan;
  std::string data = "builtin";
  std::optional<std::int64_t> tokenizer_vocabulary;
  std::optional<double> held_out;  // share of the sequences
  std::optional<std::int64_t> steps;
  std::optional<double> lr;
  std::optional<double> min_lr;
  std::optional<RateDecay> decay;
  std::optional<std::int64_t> warm_up;
  std::optional<double> weight_decay;
  std::optional<double> beta1;
  std::optional<double> beta2;
  std::optional<double> epsilon;
  std::optional<double> clip;
  std::optional<std::int64_t> seed;
  std::optional<StartWeights> start;
  std::string device = "measure";  // where time is predicted: a file, "measure" or "none"
  std::string one_rank;            // an answer of one rank, over which speed-up is measured
  std::optional<Bytes> memory;     // of a rank: arena and the allowance beside it
  std::string out;
  std::string resume;
  std::optional<std::int64_t> save_every;
  std::optional<std::int64_t> keep;
  std::optional<std::int64_t> evaluate_every;
  std::optional<std::int64_t> log_every;
  std::optional<std::int64_t> rank_timeout;  // seconds
  bool verbose = false;
};

}  // namespace fourhold::api

namespace fourhold::plan {
template <>
inline constexpr std::span<const std::string_view> kEnumNames<api::RateDecay>{api::kRateDecayNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<api::StartWeights>{
    api::kStartWeightsNames};
}  // namespace fourhold::plan

namespace fourhold::api {

template <class Visitor>
void visit_training_options(Visitor&& visit, TrainRequest& request) {
  constexpr IntegerRange kSteps{1, std::int64_t{1} << 40};
  constexpr NumberRange kRate{0, 1e6};
  // Both ends are legal: what must be above 0 starts where fp32 holds a number in full (2^-126),
  // and what must be below 1 ends there in fp32 too.
  constexpr NumberRange kAboveZero{1.2e-38, 1e6};
  constexpr NumberRange kBelowOne{0, 0.999999};
  const auto number = [&visit](const plan::FieldInfo& info, auto& field) {
    visit(Option{info, OptionGroup::run, ValueKind::number}, field);
  };
  number({"steps", "optimizer steps of the whole run", kSteps}, request.steps);
  number({"lr", "learning rate after the warm-up, such as 6e-4", {}, kAboveZero}, request.lr);
  number({"min_lr", "learning rate of the last step; a tenth of --lr if not given", {}, kRate},
         request.min_lr);
  visit(Option{{"decay", "how the learning rate falls; cosine if not given"},
               OptionGroup::run,
               ValueKind::choice},
        request.decay);
  number({"warm_up",
          "steps of warm-up; min(100, steps / 10) if not given",
          {0, std::int64_t{1} << 40}},
         request.warm_up);
  number({"weight_decay", "of matrices; 0.1 if not given", {}, kRate}, request.weight_decay);
  number({"beta1", "of gradients' average (sgd: the momentum); 0.9 if not given", {}, kBelowOne},
         request.beta1);
  number({"beta2", "of squared gradients' average; 0.95 if not given", {}, kBelowOne},
         request.beta2);
  number({"epsilon", "of AdamW; 1e-8 if not given", {}, kAboveZero}, request.epsilon);
  number({"clip", "largest norm of all gradients, 0 for none; 1 if not given", {}, kRate},
         request.clip);
  number(
      {"seed", "of weights, data order and rounding; 1 if not given", {0, std::int64_t{1} << 62}},
      request.seed);
}

template <class Visitor>
void visit_options(Visitor&& visit, TrainRequest& request) {
  visit(
      Option{{"model", "a built-in model, a config.json, or a folder with config.json and weights"},
             OptionGroup::operand,
             ValueKind::model},
      request.model);
  visit(Option{{"plan_file", "a plan file: its fields count where no flag says otherwise"},
               OptionGroup::operand,
               ValueKind::file},
        request.plan_file);
  visit(Option{{"data",
                "builtin, or a token file: .bin of llm.c, nanoGPT or Megatron (`fourhold tokenize` "
                "makes one)"},
               OptionGroup::question,
               ValueKind::file},
        request.data);
  visit(Option{{"tokenizer_vocabulary",
                "ids the tokenizer of a bare token file has",
                {1, std::int64_t{1} << 31}},
               OptionGroup::question,
               ValueKind::number},
        request.tokenizer_vocabulary);
  visit(Option{{"held_out", "share of the data to evaluate on; 0.01 if not given", {}, {0, 0.5}},
               OptionGroup::question,
               ValueKind::number},
        request.held_out);
  visit_training_options(visit, request);
  visit(Option{{"start",
                "weights to start with: published (those in MODEL's folder) or random; published "
                "where there are any"},
               OptionGroup::run,
               ValueKind::choice},
        request.start);
  visit(Option{{"device",
                "speed to compare with: measure (this machine, for a second, before the run), a "
                "file of `fourhold measure`, or none"},
               OptionGroup::device,
               ValueKind::file},
        request.device);
  visit(Option{{"one_rank",
                "what `fourhold train --json` printed on one rank with the same global batch: the "
                "speed-up over it is then measured"},
               OptionGroup::device,
               ValueKind::file},
        request.one_rank);
  visit_process_memory(visit, request.memory);
  visit(Option{{"out", "folder for logs and checkpoints; without it nothing is kept"},
               OptionGroup::output,
               ValueKind::file},
        request.out);
  visit(Option{{"resume", "auto (the newest complete checkpoint in --out), or a checkpoint"},
               OptionGroup::output,
               ValueKind::file},
        request.resume);
  constexpr IntegerRange kEvery{1, std::int64_t{1} << 40};
  const auto every = [&visit](const plan::FieldInfo& info, auto& field) {
    visit(Option{info, OptionGroup::output, ValueKind::number}, field);
  };
  every({"save_every", "steps between checkpoints; at the end alone if not given", kEvery},
        request.save_every);
  every({"keep", "checkpoints to keep; 2 if not given", {1, 1'000'000}}, request.keep);
  every({"evaluate_every",
         "steps between evaluations on held-out data; at the end alone if not "
         "given",
         kEvery},
        request.evaluate_every);
  every({"log_every", "steps between lines; 1 if not given", kEvery}, request.log_every);
  visit(Option{{"rank_timeout",
                "seconds without an answer after which another rank is given up; 50 if not given, "
                "more where a stage computes longer than that",
                {1, 1'000'000}},
               OptionGroup::run,
               ValueKind::number},
        request.rank_timeout);
  visit_verbose(visit, request.verbose);
  visit_plan_options(visit, request.plan);
  visit_execution(visit, request.plan);
}

}  // namespace fourhold::api

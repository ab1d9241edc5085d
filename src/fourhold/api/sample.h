// `fourhold sample`: text from a trained model. The engine's program answers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fourhold/api/engine_options.h"
#include "fourhold/api/option.h"
#include "fourhold/base/units.h"
#include "fourhold/plan/field_info.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

enum class SamplePrecision : std::uint8_t { fp32, bf16 };
inline constexpr std::array<std::string_view, 2> kSamplePrecisionNames{"fp32", "bf16"};

struct SampleRequest {
  std::string model;  // folder with config.json and weights, or the folder of a run
  std::string prompt;
  std::optional<std::int64_t> tokens;
  std::optional<double> temperature;
  std::optional<std::int64_t> top_k;
  std::optional<double> top_p;
  std::optional<std::int64_t> seed;
  std::string tokenizer;
  std::optional<SamplePrecision> precision;
  std::optional<Bytes> memory;
  bool verbose = false;
  plan::PlanRequest plan;  // threads and isa
};

}  // namespace fourhold::api

namespace fourhold::plan {
template <>
inline constexpr std::span<const std::string_view> kEnumNames<api::SamplePrecision>{
    api::kSamplePrecisionNames};
}  // namespace fourhold::plan

namespace fourhold::api {

template <class Visitor>
void visit_options(Visitor&& visit, SampleRequest& request) {
  visit(
      Option{{"model", "a checkpoint or run of `train`, or a folder with config.json and weights"},
             OptionGroup::operand,
             ValueKind::file},
      request.model);
  const auto ask = [&visit](const plan::FieldInfo& info, ValueKind kind, auto& field) {
    visit(Option{info, OptionGroup::question, kind}, field);
  };
  ask({"prompt", "text to go on from; the beginning of a text if not given"}, ValueKind::text,
      request.prompt);
  ask({"tokens",
       "most tokens to generate; 200 if not given, or as many as the model has positions for",
       {1, std::int64_t{1} << 31}},
      ValueKind::number, request.tokens);
  ask({"temperature",
       "below 1 likelier tokens become likelier, 0 takes the likeliest; if not given what "
       "the model's generation_config.json says, else 0.8",
       {},
       {0, 100}},
      ValueKind::number, request.temperature);
  ask({"top_k",
       "choose among so many of the likeliest tokens; if not given as above, else all",
       {1, std::int64_t{1} << 31}},
      ValueKind::number, request.top_k);
  ask({"top_p",
       "choose among the likeliest tokens that have this share of the probability; if not given as "
       "above, else 1",
       {},
       {1e-6, 1}},
      ValueKind::number, request.top_p);
  ask({"seed",
       "of the choices: the same gives the same text; 1 if not given",
       {0, std::int64_t{1} << 62}},
      ValueKind::number, request.seed);
  ask({"tokenizer",
       "bytes, a tokenizer.json, a folder that holds one, or a SentencePiece model; the model's "
       "own if not given"},
      ValueKind::file, request.tokenizer);
  ask({"precision", "of weights and arithmetic; as the weights are stored if not given"},
      ValueKind::choice, request.precision);
  visit_process_memory(visit, request.memory);
  visit_verbose(visit, request.verbose);
  visit_execution(visit, request.plan);
}

}  // namespace fourhold::api

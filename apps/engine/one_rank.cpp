#include "apps/engine/one_rank.h"

#include <cmath>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/base/quantity.h"
#include "fourhold/base/text_file.h"

namespace fourhold::engine_app {
namespace {

constexpr std::int64_t kMostBytes = 100'000'000;
constexpr const char* kHint =
    "give what `fourhold train --json` printed on one rank with the same model, --precision, "
    "--global-batch and --seq";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error("--one-rank", path + " " + why, kHint);
}

json::Value answer_in(const std::string& path) {
  try {
    return json::parse(read_text_file(path, kMostBytes), path);
  } catch (const Error& fault) {
    throw fault.inside("--one-rank");
  }
}

double number_of(const json::Value& speed, const char* name, const std::string& path) {
  const json::Value* value = speed.is_object() ? speed.find(name) : nullptr;
  if (value == nullptr || !value->is_number()) refuse(path, fmt::format("has no {}", name));
  return value->number();
}

}  // namespace

double one_rank_seconds(const std::string& path, const RunFrame& frame) {
  const json::Value answer = answer_in(path);
  const auto member = [&](const char* name) {
    return answer.is_object() ? answer.find(name) : nullptr;
  };
  const json::Value* schema = member("schema");
  if (schema == nullptr || !(*schema == json::Value("fourhold.train/1"))) {
    refuse(path, "is no answer of schema fourhold.train/1");
  }
  const json::Value* ranks = member("ranks");
  if (ranks == nullptr || !ranks->is_array() || ranks->array().size() != 1) {
    refuse(path, fmt::format("is of {} ranks",
                             ranks != nullptr && ranks->is_array() ? ranks->array().size() : 0));
  }
  if (const std::int64_t own = std::llround(number_of(answer, "parameters", path));
      own != frame.parameters) {
    refuse(path, fmt::format("is of a model of {} parameters, this one has {}", format_count(own),
                             format_count(frame.parameters)));
  }
  const json::Value* precision = member("precision");
  if (precision == nullptr || !(*precision == json::Value(frame.precision))) {
    refuse(path, fmt::format("is of another precision than {}", frame.precision));
  }
  const json::Value* speed = member("speed");
  if (speed == nullptr) refuse(path, "has no speed");
  const double seconds = number_of(*speed, "measured_step_seconds", path);
  if (!(seconds > 0)) refuse(path, "did no step");
  const std::int64_t tokens = std::llround(seconds * number_of(*speed, "tokens_per_second", path));
  if (tokens != frame.tokens_per_step) {
    refuse(path, fmt::format("had steps of {} tokens, these have {}", format_count(tokens),
                             format_count(frame.tokens_per_step)));
  }
  return seconds;
}

}  // namespace fourhold::engine_app

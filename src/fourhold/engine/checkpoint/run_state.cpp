#include "fourhold/engine/checkpoint/run_state.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/quantity.h"
#include "fourhold/model/config_difference.h"

namespace fourhold::engine {
namespace {

constexpr std::string_view kSchema = "fourhold.run/1";
constexpr IntegerRange kFromZero{.least = 0};

json::Value member(FieldReader& fields, std::string_view key) {
  const json::Value* value = fields.value(key);
  return value == nullptr ? json::Value() : *value;
}

RunState read_fields(FieldReader& fields) {
  const std::string schema = fields.required_string("schema");
  if (schema != kSchema) {
    throw Error("schema", fmt::format("is '{:.60}', not {}", schema, kSchema),
                "the checkpoint was written by another version of this program");
  }
  RunState state;
  state.step = fields.required_integer("step", kFromZero);
  state.seed = fields.required_integer("seed");
  state.tokens_seen = fields.required_integer("tokens_seen", kFromZero);
  state.precision = fields.required_string("precision");
  state.optimizer = fields.required_string("optimizer");
  state.data = fields.string("data").value_or("");
  state.data_position = member(fields, "data_position");
  state.tokenizer = fields.string("tokenizer").value_or("");  // older checkpoints have none
  state.schedule = member(fields, "schedule");
  state.plan = member(fields, "plan");
  state.versions = member(fields, "versions");
  state.losses = fields.numbers("losses").value_or(std::vector<double>());
  fields.refuse_unread();
  return state;
}

}  // namespace

std::string write_run_state(const RunState& state) {
  json::Array losses;
  for (const double loss : state.losses) {
    if (!std::isfinite(loss)) {
      throw Error("losses", fmt::format("a loss is {}", loss),
                  "weights that give such a loss are not saved: resume from the checkpoint before");
    }
    losses.emplace_back(loss);
  }
  return json::write(json::Object{{"schema", kSchema},
                                  {"step", state.step},
                                  {"seed", state.seed},
                                  {"tokens_seen", state.tokens_seen},
                                  {"precision", state.precision},
                                  {"optimizer", state.optimizer},
                                  {"data", state.data},
                                  {"data_position", state.data_position},
                                  {"tokenizer", state.tokenizer},
                                  {"schedule", state.schedule},
                                  {"plan", state.plan},
                                  {"versions", state.versions},
                                  {"losses", std::move(losses)}}) +
         "\n";
}

RunState parse_run_state(std::string_view text, const std::string& where) {
  const json::Value document = json::parse(text, where);
  try {
    FieldReader fields(document, "");
    return read_fields(fields);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

namespace {

// The first of them, which say most (sizes before details), and how many more there are.
std::string shortened(const std::vector<std::string>& lines) {
  constexpr std::size_t kShown = 3;
  if (lines.size() <= kShown) return fmt::format("{}", fmt::join(lines, "; "));
  return fmt::format("{}; and {}", fmt::join(lines.begin(), lines.begin() + kShown, "; "),
                     counted(static_cast<std::int64_t>(lines.size() - kShown), "more difference"));
}

}  // namespace

void check_resumable(const RunState& saved, const model::ModelConfig& saved_model,
                     const ResumedRun& run, const std::string& where) {
  std::vector<std::string> lines = model::config_differences(saved_model, run.model);
  if (!lines.empty()) {
    throw Error(where, "was saved with another model: " + shortened(lines),
                "resume with the model it was saved with, which is its config.json");
  }
  if (!saved.data.empty() && saved.data != run.data) {
    throw Error(where,
                fmt::format("was trained on other data: its tokens have the hash {:.60}, those of "
                            "--data {}",
                            saved.data, run.data),
                fmt::format("resume with the data it was trained on, or start a new run from its "
                            "weights: train {}",
                            where));
  }
  if (saved.precision != run.precision) {
    lines.push_back(fmt::format("precision is {}, here {}", saved.precision, run.precision));
  }
  if (saved.optimizer != run.optimizer) {
    lines.push_back(fmt::format("optimizer is {}, here {}", saved.optimizer, run.optimizer));
  }
  if (lines.empty()) return;
  throw Error(where, fmt::format("cannot be resumed: {}", fmt::join(lines, "; ")),
              fmt::format("resume with --precision {} --optimizer {}, or start a new run from its "
                          "weights: train {}",
                          saved.precision, saved.optimizer, where));
}

}  // namespace fourhold::engine

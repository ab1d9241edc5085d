// `fourhold params`: the exact parameter count of a language model, by module, and what a published
// total counts beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/base/json.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct ParamsRequest {
  std::string model;
  std::optional<std::int64_t> published;  // a total to be explained
};

template <class Visitor>
void visit_options(Visitor&& visit, ParamsRequest& request) {
  visit(Option{{"model",
                "a built-in model, a config.json, a folder holding one, or safetensors "
                "weights or their index"},
               OptionGroup::operand,
               ValueKind::model},
        request.model);
  visit(Option{{"published",
                "a published total, to be explained or called wrong",
                {1, std::int64_t{1} << 60}},
               OptionGroup::question,
               ValueKind::number},
        request.published);
}

// Parameters of one name and shape, over all layers (or experts, or files) that have them.
struct Module {
  std::string name;  // "layer.q_weight"; of weights their own name with * for numbers
  std::vector<std::int64_t> shape;  // heads and their width joined, as checkpoints store them
  std::int64_t count = 0;           // elements of one
  std::int64_t copies = 0;
  [[nodiscard]] std::int64_t total() const { return count * copies; }
};

struct PublishedTotal {
  std::int64_t total = 0;
  std::int64_t difference = 0;         // published - counted
  std::vector<std::string> explained;  // what makes up the difference exactly; empty: unexplained
};

struct ParamsResult {
  std::string name;
  std::int64_t total = 0;
  // Not known where only weights are there.
  std::optional<std::int64_t> active;
  std::optional<std::int64_t> embedding;
  std::vector<Module> modules;  // their totals add up to `total`, but for lines of weights that
                                // the notes set aside
  std::optional<PublishedTotal> published;
  std::vector<std::string> notes;
};

[[nodiscard]] ParamsResult params(const ParamsRequest& request);

[[nodiscard]] json::Value to_json(const ParamsResult& result);
[[nodiscard]] std::string to_text(const ParamsResult& result, const report::Screen& screen);

}  // namespace fourhold::api

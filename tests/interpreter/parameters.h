// The parameters of a whole model, and which elements of one a rank's local tensor holds.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fourhold/model/operations.h"
#include "fourhold/plan/program.h"

namespace fourhold::interpreter {

// A parameter of the model. A tied head's table is the embedding's.
struct ParameterKey {
  model::Block block = model::Block::embedding;
  std::int64_t layer = -1;
  model::TensorName name = model::TensorName::token_embedding;
  model::Variant variant = model::Variant::plain;
  friend auto operator<=>(const ParameterKey&, const ParameterKey&) = default;
};
[[nodiscard]] std::string to_string(const ParameterKey& key);
[[nodiscard]] ParameterKey key_of(model::Block block, std::int64_t layer,
                                  const model::BlockParameter& use);

// Flat values, whole, row-major.
using ParameterValues = std::map<ParameterKey, std::vector<double>>;

// Random weights of every parameter of the model, the same for every split: norm weights around 1,
// matrices scaled by their inputs.
[[nodiscard]] ParameterValues make_parameters(const model::ModelConfig& config,
                                              const model::Switches& switches);

inline constexpr std::int64_t kPadding = -1;

// For each element of the local tensor: its place in the whole one, or kPadding for the rows a
// padded vocabulary adds.
[[nodiscard]] std::vector<std::int64_t> local_elements(const plan::Plan& plan, std::int64_t rank,
                                                       const plan::LocalParameter& parameter);

// The first row of this rank in a dimension of the whole parameter.
[[nodiscard]] std::int64_t first_of(const plan::Plan& plan, std::int64_t rank,
                                    const model::Extent& whole, std::int64_t local_size);

// The place of a rank in its group.
[[nodiscard]] std::int64_t place_in(const std::vector<std::int64_t>& group, std::int64_t rank);

}  // namespace fourhold::interpreter

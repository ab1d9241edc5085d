// From stored tensors to parameters: a checkpoint also holds what nobody trains.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/model/checkpoint_header.h"
#include "fourhold/model/stored_type.h"

namespace fourhold::model {

// What a config.json beside the checkpoint says about the head. The header cannot show whether two
// tensors hold equal values.
enum class Tie : std::uint8_t { unknown, tied, untied };

struct CountOptions {
  Tie tie = Tie::unknown;
  std::optional<std::int64_t> stated_parameters =
      std::nullopt;                                         // a published total to compare with
  std::optional<std::int64_t> stated_bytes = std::nullopt;  // the index's total_size
};

// What a line does to the count.
enum class CountEffect : std::uint8_t {
  set_aside,  // stored, but no parameter of the language model: subtracted
  unpacked,   // stored packed: added, so that each value counts
  counted     // worth a word, yet counted
};

struct CountLine {
  std::string what;  // "causal mask buffers", "quantisation scales" ...
  CountEffect effect = CountEffect::set_aside;
  std::int64_t tensors = 0;
  std::int64_t elements = 0;  // subtracted, added or included
  std::string why;
};

struct TypeCount {
  StoredType type = StoredType::f32;
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
};

// parameters = stored_elements - set aside + unpacked.
struct CheckpointCount {
  std::int64_t stored_elements = 0;
  std::int64_t stored_bytes = 0;
  std::int64_t parameters = 0;
  std::vector<TypeCount> types;  // those that occur, in the order of StoredType
  std::vector<CountLine> lines;  // those that occur, in a fixed order
  std::vector<std::string> notes;
};

// Counts the language model's parameters by names, shapes and dtypes alone. Error when a sum leaves
// the 64-bit range.
[[nodiscard]] CheckpointCount count_checkpoint(const std::vector<StoredTensor>& tensors,
                                               const CountOptions& options = {});

// A note when a stated total and the shapes differ by more than 20% of the larger, naming both: the
// shapes are to be trusted (published metadata are known to be wrong by orders of magnitude).
[[nodiscard]] std::optional<std::string> stated_total_note(std::int64_t counted,
                                                           std::int64_t stated,
                                                           const std::string& unit);

}  // namespace fourhold::model

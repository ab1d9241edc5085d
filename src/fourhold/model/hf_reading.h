// What the readers of the single families share: one config.json being read, its class defaults,
// and the fields that most families have, under all their published names.
//
// Rules for every field: null is absent; absent means the default of the model's class in
// transformers, never zero; a size is at least 1 and below 2^31; every fault names the field's
// path.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "fourhold/base/field_reader.h"
#include "fourhold/model/depth.h"
#include "fourhold/model/model_config.h"

namespace fourhold::model {

// What a model's class assumes for absent fields.
struct ClassDefaults {
  static constexpr std::int64_t kRequired = 0;     // no default: absence is an Error
  static constexpr std::int64_t kFourHidden = -1;  // ffn: four times the hidden size
  static constexpr std::int64_t kAsHeads = 0;      // kv_heads: as many as heads
  static constexpr std::int64_t kDivided = 0;      // head_dim: hidden / heads

  std::int64_t vocab = kRequired;
  std::int64_t hidden = kRequired;
  std::int64_t ffn = kRequired;
  std::int64_t layers = kRequired;
  std::int64_t heads = kRequired;
  std::int64_t kv_heads = kAsHeads;
  std::int64_t head_dim = kDivided;
  std::int64_t max_positions = 0;  // 0 = not stated
  std::int64_t window = 0;         // 0 = full attention
  bool tied = false;
};

// One config.json being read into `config`.
struct Reading {
  FieldReader& fields;  // the language model's object
  FieldReader* outer;   // of a wrapper: the whole document, else nullptr
  const ClassDefaults& defaults;
  ModelConfig& config;
  std::int64_t prediction_layers = 0;  // of multi-token prediction, shaped like the last layer
};

// Names of one field, in the order they are looked for; the first is the one errors name.
class Aliases {
 public:
  static constexpr int kMaxNames = 5;
  constexpr Aliases(std::initializer_list<std::string_view> names) {
    assert(names.size() <= kMaxNames && "a field has at most five names");
    for (const std::string_view name : names) names_[static_cast<std::size_t>(count_++)] = name;
  }
  [[nodiscard]] constexpr const std::string_view* begin() const { return names_.data(); }
  [[nodiscard]] constexpr const std::string_view* end() const { return names_.data() + count_; }

 private:
  std::array<std::string_view, kMaxNames> names_{};
  int count_ = 0;
};

// Limits that no published model comes near; beyond them a field is a mistake.
inline constexpr IntegerRange kSizeRange{1, (1LL << 31) - 1};
inline constexpr IntegerRange kCountRange{0, (1LL << 31) - 1};

// The value under any of the names; Error when two of them disagree.
[[nodiscard]] std::optional<std::int64_t> aliased_integer(Reading& reading, Aliases names,
                                                          IntegerRange range = kSizeRange);
// The same with a default, which is an Error (`is missing`) when it is kRequired.
[[nodiscard]] std::int64_t size_or(Reading& reading, Aliases names, std::int64_t default_value);
// The same for what makes the model's size: where the default stands in, a note says so. `shown` is
// the class's own name of the field, the first of `names` where it is empty.
[[nodiscard]] std::int64_t noted_size(Reading& reading, Aliases names, std::int64_t default_value,
                                      std::string_view shown = {});
// The same for a count, which may be 0.
[[nodiscard]] std::int64_t noted_count(Reading& reading, std::string_view name,
                                       std::int64_t default_value);
[[nodiscard]] double number_or(Reading& reading, Aliases names, double default_value,
                               NumberRange range);
[[nodiscard]] bool flag_or(Reading& reading, std::string_view name, bool default_value);

// The sizes that all families have. Where a class default stands in for one of them, a note says
// so.
struct Sizes {
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
};

// Which of the sizes read_sizes reads; a family reads the others by itself.
struct SizesAsked {
  bool ffn = true;
  bool kv_heads = true;
  bool head_dim = true;  // latent attention states its parts instead
  bool layers = true;
  double rotary_fraction = 1.0;  // the class's own, where the file states none
};

// Reads the sizes and sets the fields of `config` that need no more than them: vocab, hidden,
// embedding_width, max_positions, tied, rotary_fraction and the dropouts.
[[nodiscard]] Sizes read_sizes(Reading& reading, SizesAsked asked = {});

// Error at `path` unless every KV head serves as many heads as the others.
void check_kv_heads(const std::string& path, std::int64_t kv_heads, std::int64_t heads);
// Error unless the columns of a head that rotary positions turn are pairs (Su 2021, arXiv
// 2104.09864, eq. 15). Call it when all layers are read.
void check_rotary(const Reading& reading);
[[nodiscard]] std::int64_t read_layer_count(Reading& reading);
// Heads that divide hidden, unless head_dim is stated. Errors name both fields and both numbers.
[[nodiscard]] std::int64_t read_head_dim(Reading& reading, std::int64_t hidden, std::int64_t heads);
[[nodiscard]] ActivationKind read_activation(Reading& reading, ActivationKind default_kind);

// sliding_window: absent = class default, null or 0 = none.
[[nodiscard]] std::int64_t read_window(Reading& reading);
// A note: an assumption taken, as a sentence.
void note(Reading& reading, std::string text);

}  // namespace fourhold::model

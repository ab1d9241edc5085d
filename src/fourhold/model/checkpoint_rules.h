// Which stored tensors are no parameters of the language model, told by name, shape and dtype.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fourhold/model/checkpoint_header.h"

namespace fourhold::model {

// The kinds of tensors that are not simply counted, in the order they are reported.
enum class StoredKind : std::uint8_t {
  parameter,
  causal_mask,       // gpt2, gpt_neox: a triangle of ones kept as a buffer
  rotary_frequency,  // older llama files: inv_freq
  position_index,    // 0, 1, 2 ... kept as a buffer
  scale,             // of fp8, fp4 and int8 weights
  packed,            // two 4-bit values per byte
  prediction_layer,  // multi-token prediction, with its copies of embedding and head
  other_tower,       // vision, audio and what projects from them
  correction_bias    // router score bias: counted, moved by load and not by gradient
};
inline constexpr int kStoredKindCount = 9;

// Answers for one checkpoint; keeps views of the tensors, which must outlive it.
class StoredKinds {
 public:
  explicit StoredKinds(const std::vector<StoredTensor>& tensors);
  [[nodiscard]] StoredKind of(const StoredTensor& tensor) const;
  [[nodiscard]] bool holds(std::string_view name) const;

 private:
  [[nodiscard]] bool in_prediction_layer(std::string_view name) const;

  std::vector<std::string_view> names_;            // sorted
  std::vector<std::string_view> predicted_names_;  // sorted
  bool has_language_model_ = false;                // something beside towers and layers
};

// The token embedding of a head, when both are stored with one shape and dtype: a possible
// duplicate.
struct TiedPair {
  const StoredTensor* embedding = nullptr;
  const StoredTensor* head = nullptr;
};
[[nodiscard]] TiedPair find_tied_pair(const std::vector<StoredTensor>& tensors);

// Weights whose number of values per element cannot be read from the header (GPTQ, AWQ,
// bitsandbytes).
[[nodiscard]] bool is_opaque_quantised(std::string_view name);

}  // namespace fourhold::model

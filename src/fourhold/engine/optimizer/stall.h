// How many updates anybody's checkpoint would lose if its weights were updated in a given format
// without a master copy.
//
// In the steady state Adam moves a weight by about the learning rate, up or down (|m| = sqrt(v), D.
// Kingma, J. Ba, arXiv 1412.6980, sec. 2.1), Lion by exactly that. Each weight, rounded to the
// format, is moved once up and once down; the update is lost if the sum rounds back to nearest,
// ties to even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/engine/optimizer/stall_meter.h"
#include "fourhold/model/stored_type.h"

namespace fourhold::engine {

struct StallQuestion {
  DType dtype = DType::bf16;  // fp32, bf16 or fp16
  double learning_rate = 0;
  double weight_decay = 0;  // the change is +-lr - lr decay w
};

struct TensorStall {
  StallCount count;  // two updates for each finite weight, less those that are zero
  std::int64_t elements = 0;
  std::int64_t nonfinite = 0;  // elements that are not finite in the format: in no count
  // The first element that is not finite as stored; of one tensor, not of a sum.
  std::optional<std::int64_t> first_not_a_weight;

  TensorStall& operator+=(const TensorStall& other);
};

// Whether tensors of this stored type can be asked about: F64, F32, F16, BF16, F8_E4M3, F8_E5M2.
// Others are indices, masks, scales or packed codes.
[[nodiscard]] bool holds_weights(model::StoredType type);

// Of the two updates of one finite weight of the question's format; the question must be one that
// StallAnalysis takes.
[[nodiscard]] StallCount stall_of_weight(const StallQuestion& question, double weight);

// Answers for one question; exact for every element.
class StallAnalysis {
 public:
  // Throws Error for another dtype, or a rate or decay that is negative or not finite, or a rate of
  // 0.
  explicit StallAnalysis(const StallQuestion& question);

  // `bytes` as stored in safetensors, little-endian, whole elements of a type that holds weights.
  [[nodiscard]] TensorStall of(std::span<const std::byte> bytes, model::StoredType type) const;

 private:
  StallQuestion question_;
  std::vector<StallCount> by_bits_;  // 16-bit formats: the answer for every weight there is
};

}  // namespace fourhold::engine

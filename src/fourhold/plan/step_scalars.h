// The single values a step sums over ranks: small, but messages and memory like any other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "fourhold/base/dtype.h"
#include "fourhold/plan/expand.h"
#include "fourhold/plan/mesh.h"

namespace fourhold::plan {

// How long the value is needed, both steps included.
enum class ScalarLife : std::uint8_t {
  count_to_loss,  // Work::count_tokens to Work::reduce_loss
  norm_to_clip,   // Work::gradient_norm to Work::clip
};

struct StepScalar {
  std::string_view name;
  DType dtype = DType::fp64;  // sums of many addends
  Work summed_by = Work::count_tokens;
  // The ranks that sum it, each bringing what it alone has: of replicas (over tp; over dp x cp
  // where gradients are already summed) only the first brings something.
  Axis axis = Axis::world;
  ScalarLife life = ScalarLife::count_to_loss;

  [[nodiscard]] constexpr std::int64_t payload_bytes() const { return bytes_of(1, dtype); }
};

// Valid tokens are counted on every stage, from the targets of its dp and cp coordinates, so that
// no stage waits for another; the loss is made on the last stage and read on all.
inline constexpr std::array<StepScalar, 3> kStepScalars{
    {{"token_count", DType::int64, Work::count_tokens, Axis::sharding, ScalarLife::count_to_loss},
     {"loss_sum", DType::fp64, Work::reduce_loss, Axis::world, ScalarLife::count_to_loss},
     {"gradient_norm", DType::fp64, Work::gradient_norm, Axis::world, ScalarLife::norm_to_clip}}};

}  // namespace fourhold::plan

// How a block's operations are split over the mesh: local shapes, and the collectives this inserts.
//
// A split is a rule about what a dimension counts, not about a model: heads, widths and the
// vocabulary over tp, tokens over cp (and over tp in the stream, with sequence parallelism),
// experts over ep. A degree of one is no operation: borders vanish and sizes stay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fourhold/model/operations.h"
#include "fourhold/plan/mesh.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::plan {

// What travels. Payloads and wire bytes: predict/collectives.h.
enum class Collective : std::uint8_t {
  none,
  all_gather,      // backward: reduce_scatter
  reduce_scatter,  // backward: all_gather
  all_reduce,      // backward: identity
  copy,            // identity; backward: all_reduce
  all_to_all,      // backward: all_to_all
  ring,            // context-parallel attention: k and v pass round, n - 1 steps
  reduce_scalars,  // a few fp32 numbers per token, all-reduced inside an operation
  send_receive,
};

// Degrees that decide local sizes.
struct ShardingDegrees {
  std::int64_t tp = 1;
  bool sp = false;
  std::int64_t cp = 1;
  std::int64_t ep = 1;
  std::int64_t padded_vocab = 0;  // rows of the vocabulary, padded, over all tp ranks
};
// `padded_vocab` is a multiple of tp, or of the profile's multiple (Megatron: 128 x tp).
[[nodiscard]] ShardingDegrees degrees_of(const Plan& plan, const model::ModelConfig& config,
                                         const Profile& profile);

// The local size of one dimension. Sizes divide (validate() has seen to it) but for the vocabulary,
// which is padded, and kv heads, of which every rank holds at least one.
[[nodiscard]] model::Extent local_extent(const model::Extent& extent, model::Region region,
                                         const ShardingDegrees& degrees);

// A parameter on one rank of the model-parallel group, before ZeRO.
struct LocalParameter {
  model::BlockParameter use;
  model::Shape shape;                // local
  bool expert = false;               // sharded over dp x cp / ep, else over dp x cp
  std::optional<Axis> gradient_sum;  // replicas over this axis hold partial gradients
  [[nodiscard]] std::int64_t elements() const { return shape.elements(); }
};

struct OperationCollective {
  Collective kind = Collective::none;
  Axis axis = Axis::tp;
};

// A block with local shapes. Borders of degree one are gone; the others became collectives, which
// stand beside their operation.
struct ShardedBlock {
  model::BlockOperations operations;             // shapes are local
  std::vector<OperationCollective> collectives;  // one per operation
  std::vector<LocalParameter> parameters;        // one per parameter of the block
};

// Throws Error where an operation cannot be split so (unfused attention over cp).
[[nodiscard]] ShardedBlock shard(model::BlockOperations block, const ShardingDegrees& degrees);

}  // namespace fourhold::plan

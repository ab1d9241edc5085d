#include "apps/engine/model_checks.h"

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/rotary.h"

namespace fourhold::engine_app {

void require_kernels(const model::ModelConfig& model, const model::Numerics& numerics) {
  if (!numerics.unsupported.empty()) {
    throw Error(model.name,
                "asks for " + numerics.unsupported + ", which the engine does not compute",
                "the engine trains models of the GPT-2, Llama and Qwen families; `predict` and "
                "`plan` know this one");
  }
  for (const model::LayerKind& kind : model.kinds) {
    engine::require_attention_kernel(model, kind.attention, 0);
    const bool turned = model.position == model::PositionKind::rotary;
    if (turned && kind.attention.head_dim > engine::kMostTurnedColumns) {
      throw Error(model.name,
                  fmt::format("has heads of {} columns with rotary positions, the engine turns at "
                              "most {}",
                              kind.attention.head_dim, engine::kMostTurnedColumns),
                  "use more, narrower heads");
    }
  }
}

}  // namespace fourhold::engine_app

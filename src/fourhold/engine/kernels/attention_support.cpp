#include "fourhold/base/error.h"
#include "fourhold/engine/kernels/attention.h"

namespace fourhold::engine {

void require_attention_kernel(const model::ModelConfig& config, const model::Attention& attention,
                              double dropout) {
  const auto refuse = [&](const char* what) {
    throw Error(config.name, what,
                "the engine trains models of the GPT-2, Llama and Qwen families; `predict` and "
                "`plan` know this one");
  };
  if (attention.kind == model::AttentionKind::latent) {
    refuse("the engine's attention has no latent heads (MLA)");
  }
  if (attention.value_head_dim != attention.head_dim) {
    refuse("the engine's attention needs values as wide as queries");
  }
  if (attention.score_softcap > 0) refuse("the engine's attention has no cap of the scores");
  if (attention.sinks) refuse("the engine's attention has no sinks");
  if (config.position == model::PositionKind::alibi) {
    refuse("the engine's attention has no linear biases (ALiBi)");
  }
  if (dropout > 0) {
    refuse("the engine's attention has no dropout of probabilities");
  }
}

}  // namespace fourhold::engine

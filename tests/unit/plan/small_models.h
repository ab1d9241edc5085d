// Model configs in a few numbers, for tests of plans.
#pragma once

#include <cstdint>
#include <string>

#include "fourhold/base/error.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::plan {

struct DenseSizes {
  std::int64_t heads = 8;
  std::int64_t kv_heads = 8;
  std::int64_t ffn = 256;
  std::int64_t layers = 8;
};

// A rotary model of equal dense layers.
inline model::ModelConfig dense_model(const DenseSizes& sizes) {
  model::LayerKind kind;
  kind.attention.heads = sizes.heads;
  kind.attention.kv_heads = sizes.kv_heads;
  kind.attention.head_dim = 16;
  kind.attention.value_head_dim = 16;
  kind.feed_forward.width = sizes.ffn;
  model::ModelConfig config;
  config.name = "small";
  config.vocab = 1000;
  config.hidden = sizes.heads * 16;
  config.embedding_width = config.hidden;
  config.max_positions = 1 << 17;
  config.kinds = {kind};
  config.layers.assign(static_cast<std::size_t>(sizes.layers), 0);
  return config;
}

struct ExpertSizes {
  std::int64_t experts = 128;
  std::int64_t width = 256;
  std::int64_t shared_width = 0;
};

// The same with experts in every layer but the first.
inline model::ModelConfig expert_model(const ExpertSizes& sizes) {
  model::ModelConfig config = dense_model({});
  model::LayerKind kind = config.kinds.front();
  kind.feed_forward = {.kind = model::FeedForwardKind::experts,
                       .gated = true,
                       .experts = sizes.experts,
                       .active_experts = 2,
                       .expert_width = sizes.width,
                       .shared_width = sizes.shared_width};
  config.kinds.push_back(kind);
  for (std::size_t i = 1; i < config.layers.size(); ++i) config.layers[i] = 1;
  return config;
}

struct Fault {
  std::string where;
  std::string what;
  std::string hint;
};

// The Error that `action` throws.
template <class Action>
Fault fault_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.where(), error.what(), error.hint()};
  }
  return {"nothing was refused", "", ""};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace fourhold::plan

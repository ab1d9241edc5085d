// Reads any bytes as a plan file and as a request, and completes and validates what was read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/profile.h"

namespace {

using namespace fourhold;  // NOLINT(google-build-using-namespace): a program of its own

// Two kinds of layers, grouped heads, experts and a learned table: every check has something to do.
model::ModelConfig mixed_model() {
  model::LayerKind dense;
  dense.attention.heads = 28;
  dense.attention.kv_heads = 4;
  dense.attention.head_dim = 16;
  dense.attention.value_head_dim = 16;
  dense.feed_forward.width = 1792;
  model::LayerKind routed = dense;
  routed.feed_forward = {.kind = model::FeedForwardKind::experts,
                         .gated = true,
                         .experts = 48,
                         .active_experts = 4,
                         .expert_width = 448,
                         .shared_width = 448};
  model::ModelConfig config;
  config.vocab = 1000;
  config.hidden = 448;
  config.embedding_width = 448;
  config.position = model::PositionKind::learned;
  config.max_positions = 4096;
  config.position_rows = 4096;
  config.kinds = {dense, routed};
  config.layers = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return config;
}

// A rejection names a place; anything else is a fault of the reader.
template <class Action>
bool accepted(const Action& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    if (error.where().empty()) std::abort();
    return false;
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  json::Value value;
  if (!accepted([&] { value = json::parse(text, "plan.json"); })) return 0;
  static const model::ModelConfig config = mixed_model();
  static const plan::Profile profile = plan::load_profile("standard");

  plan::Plan read;
  if (accepted([&] { read = plan::plan_from_json(value, "plan.json"); })) {
    const json::Value written = plan::to_json(read);
    if (!(plan::plan_from_json(written, "written") == read)) std::abort();
    accepted([&] { plan::validate(read, config, profile); });
  }
  accepted([&] {
    const plan::Plan whole =
        plan::complete(plan::request_from_json(value, "plan.json"), config, profile);
    plan::validate(whole, config, profile);
  });
  return 0;
}

#include "fourhold/model/adapters.h"

namespace fourhold::model {

std::optional<AdapterTarget> adapter_target(TensorName name) {
  switch (name) {
    case TensorName::q_weight:
    case TensorName::q_down_weight:
    case TensorName::q_up_weight:
      return AdapterTarget::q;
    case TensorName::k_weight:
      return AdapterTarget::k;
    case TensorName::v_weight:
      return AdapterTarget::v;
    case TensorName::kv_down_weight:
    case TensorName::kv_up_weight:
      return AdapterTarget::kv;
    case TensorName::o_weight:
      return AdapterTarget::o;
    case TensorName::gate_weight:
    case TensorName::shared_gate_weight:
      return AdapterTarget::gate;
    case TensorName::up_weight:
    case TensorName::shared_up_weight:
      return AdapterTarget::up;
    case TensorName::down_weight:
    case TensorName::shared_down_weight:
      return AdapterTarget::down;
    case TensorName::attention_linear_weight:
    case TensorName::feed_forward_linear_weight:
      return AdapterTarget::linear;
    default:
      return std::nullopt;
  }
}

}  // namespace fourhold::model

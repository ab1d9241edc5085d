#include "fourhold/predict/entry_names.h"

namespace fourhold::predict {

std::string_view variant_text(model::Variant variant) {
  switch (variant) {
    case model::Variant::gathered:
      return "gathered";
    case model::Variant::partial:
      return "partial";
    case model::Variant::lora_a:
      return "lora_a";
    case model::Variant::lora_b:
      return "lora_b";
    case model::Variant::lora_input:
      return "lora_input";
    case model::Variant::lora_dropped:
      return "lora_dropped";
    case model::Variant::lora_mask:
      return "lora_mask";
    case model::Variant::lora_wide:
      return "lora_wide";
    case model::Variant::original:
      return "original";
    case model::Variant::sum:
      return "sum";
    case model::Variant::plain:
      break;
  }
  return "";
}

Dims dims_of(const model::Shape& shape) {
  Dims dims;
  for (const model::Extent& extent : shape) dims.push_back(extent.size);
  return dims;
}

}  // namespace fourhold::predict

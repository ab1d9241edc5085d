#include "fourhold/measured/attention_words.h"

#include <string>

#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

using model::AttentionSaving;
using plan::AttentionKernel;

bool has_any(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (contains(text, word)) return true;
  }
  return false;
}

}  // namespace

bool knows_attention(std::string_view attention) {
  const std::string text = lowered(attention);
  return text.empty() ||
         has_any(text, {"flash", "sdpa", "cudnn", "triton", "fused", "torch", "local", "eager",
                        "transformer_engine", "transformer-engine", "xformers", "math"});
}

void set_attention(std::string_view attention, plan::Profile& profile) {
  const std::string text = lowered(attention);
  const bool refused = has_any(text, {"no flash", "unfused"});
  if (refused || starts_with(text, "torch") || starts_with(text, "fused")) {
    profile.switches.attention = AttentionSaving::unfused;
    if (starts_with(text, "torch")) profile.time.fused_softmax_keys = 0;
    return;
  }
  if (!has_any(text, {"flash", "sdpa", "cudnn", "triton"})) return;
  profile.switches.attention = AttentionSaving::flash;
  AttentionKernel& kernel = profile.time.attention_kernel;
  if (has_any(text, {"flash-3", "flash_attention3", "cudnn"})) {
    kernel = AttentionKernel::flash_3;
  } else if (has_any(text, {"flash-2", "flash_attention2", "flash2", "sdpa"})) {
    kernel = AttentionKernel::flash_2;
  } else if (has_any(text, {"flash-1", "flash_attentionv1"})) {
    kernel = AttentionKernel::flash_1;
  } else if (has_any(text, {"triton"})) {
    kernel = AttentionKernel::triton;
  }
}

}  // namespace fourhold::measured

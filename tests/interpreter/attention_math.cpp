#include "tests/interpreter/attention_math.h"

#include <algorithm>
#include <cmath>

#include "tests/interpreter/counter_random.h"

namespace fourhold::interpreter {

AttentionMath::AttentionMath(const Call& call) : call_(call) {
  const model::Attention& attention = call.layer_kind().attention;
  const std::int64_t tp = call.setting.plan.tp;
  const bool latent = attention.kind == model::AttentionKind::latent;
  heads_ = attention.heads;
  const std::int64_t kv_heads = latent ? heads_ : attention.kv_heads;
  scale_ = 1 / std::sqrt(static_cast<double>(attention.head_dim));
  cap_ = attention.score_softcap;
  linear_bias_ = call.config().position == model::PositionKind::alibi;
  first_head_ = call.at().tp * (heads_ / tp);
  group_ = (heads_ / tp) / std::max<std::int64_t>(1, kv_heads / tp);
  const bool drops = call.setting.switches.dropout == model::DropoutMasks::from_config;
  dropout_ = drops ? call.config().attention_dropout : 0;
}

bool AttentionMath::sees(const TokenPlace& query, const TokenPlace& key) const {
  const std::int64_t window = call_.op().window;
  return query.sequence == key.sequence && key.position <= query.position &&
         (window == 0 || query.position - key.position < window);
}

double AttentionMath::score(double product, const TokenPlace& query, const TokenPlace& key,
                            std::int64_t head) const {
  double score = product * scale_;
  if (cap_ > 0) score = cap_ * std::tanh(score / cap_);
  if (linear_bias_) {
    // Press 2022, arXiv 2108.12409: slopes 2^(-8/n), 2^(-16/n) ... over the n heads.
    const double steps = static_cast<double>(first_head_ + head + 1) / static_cast<double>(heads_);
    score -= std::pow(2.0, -8 * steps) * static_cast<double>(query.position - key.position);
  }
  return score;
}

double AttentionMath::slope(double product) const {
  if (cap_ <= 0) return scale_;
  const double capped = std::tanh(product * scale_ / cap_);
  return scale_ * (1 - capped * capped);
}

double AttentionMath::kept(const TokenPlace& query, const TokenPlace& key,
                           std::int64_t head) const {
  if (dropout_ <= 0) return 1;
  const std::int64_t column = (first_head_ + head) * call_.setting.plan.seq + key.position;
  const double unit = random_unit({static_cast<std::int64_t>(model::TensorName::attention_mask),
                                   call_.layer, query.sequence, query.position, column});
  return unit < dropout_ ? 0 : 1 / (1 - dropout_);
}

}  // namespace fourhold::interpreter

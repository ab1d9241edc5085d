#include "tests/interpreter/reference_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/interpreter/reference_math.h"

namespace fourhold::interpreter {
namespace {

using model::Attention;
using model::AttentionKind;
using model::FeedForward;
using model::FeedForwardKind;
using model::LayerKind;
using model::NormKind;
using model::NormPlacement;
using model::TensorName;

class Reference {
 public:
  Reference(const model::ModelConfig& config, const ParameterValues& values)
      : config_(config), values_(values) {}

  // Sum over the valid targets.
  [[nodiscard]] double sequence_loss(const std::vector<std::int64_t>& tokens,
                                     const std::vector<std::int64_t>& targets) {
    Rows x = embed(tokens);
    for (std::size_t layer = 0; layer < config_.layers.size(); ++layer) {
      at_ = {model::Block::layer, static_cast<std::int64_t>(layer)};
      const LayerKind& kind = config_.kinds[static_cast<std::size_t>(config_.layers[layer])];
      x = run_layer(kind, x);
    }
    at_ = {model::Block::head, -1};
    if (config_.final_norm) {
      x = norm(x, config_.norm, TensorName::final_norm_weight, TensorName::final_norm_bias);
    }
    double loss = 0;
    for (std::size_t t = 0; t < x.size(); ++t) {
      if (targets[t] < 0) continue;
      const Row scores = logits(x[t]);
      double sum = 0;
      for (const double score : scores) sum += std::exp(score);
      loss += std::log(sum) - scores[static_cast<std::size_t>(targets[t])];
    }
    return loss;
  }

 private:
  struct Place {
    model::Block block = model::Block::embedding;
    std::int64_t layer = -1;
  };

  // A parameter of the current block, or nullptr when the model has none.
  [[nodiscard]] const Row* find(TensorName name) const {
    const auto found = values_.find({at_.block, at_.layer, name, model::Variant::plain});
    return found == values_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] Rows linear(const Rows& x, TensorName weight, const Row* bias = nullptr) const {
    Rows y;
    for (const Row& row : x) y.push_back(apply(*find(weight), bias, row));
    return y;
  }

  [[nodiscard]] Rows norm(const Rows& x, NormKind kind, TensorName weight, TensorName bias) const {
    Rows y;
    for (const Row& row : x) y.push_back(normalise(row, kind, find(weight), find(bias)));
    return y;
  }

  Rows embed(const std::vector<std::int64_t>& tokens) {
    at_ = {model::Block::embedding, -1};
    Rows x;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Row row = slice(*find(TensorName::token_embedding), tokens[t] * config_.embedding_width,
                      config_.embedding_width);
      if (const Row* matrix = find(TensorName::embedding_projection)) {
        row = apply(*matrix, nullptr, row);
      }
      if (const Row* table = find(TensorName::position_embedding)) {
        const std::int64_t skipped = config_.position_rows - config_.max_positions;
        const auto entry = static_cast<std::int64_t>(t) + skipped;
        row = sum_of(row, slice(*table, entry * config_.hidden, config_.hidden));
      }
      x.push_back(row);
    }
    if (!config_.embedding_norm) return x;
    return norm(x, config_.norm, TensorName::embedding_norm_weight,
                TensorName::embedding_norm_bias);
  }

  [[nodiscard]] Row logits(const Row& x) const {
    const Row* projection = find(TensorName::head_projection);
    const Row in = projection == nullptr ? x : apply(*projection, nullptr, x);
    const Row& table = config_.tied
                           ? values_.at({model::Block::embedding, -1, TensorName::token_embedding,
                                         model::Variant::plain})
                           : *find(TensorName::head_weight);
    Row scores = apply(table, find(TensorName::head_bias), in);
    const double cap = config_.logit_softcap;
    for (double& score : scores) score = cap > 0 ? cap * std::tanh(score / cap) : score;
    return scores;
  }

  [[nodiscard]] Rows run_layer(const LayerKind& kind, const Rows& x) const {
    const auto first = [&](const Rows& in) {
      return norm(in, kind.norm, TensorName::norm1_weight, TensorName::norm1_bias);
    };
    const auto second = [&](const Rows& in) {
      return norm(in, kind.norm, TensorName::norm2_weight, TensorName::norm2_bias);
    };
    const auto after_attention = [&](const Rows& in) {
      return norm(in, kind.norm, TensorName::attention_post_norm_weight,
                  TensorName::attention_post_norm_bias);
    };
    const auto after_feed_forward = [&](const Rows& in) {
      return norm(in, kind.norm, TensorName::feed_forward_post_norm_weight,
                  TensorName::feed_forward_post_norm_bias);
    };
    const bool attends = kind.attention.kind != AttentionKind::none;
    const bool feeds = kind.feed_forward.kind != FeedForwardKind::none;
    Rows y = x;
    switch (kind.placement) {
      case NormPlacement::pre:
        if (attends) y = sum_of(y, attend(kind.attention, first(y)));
        if (feeds) y = sum_of(y, feed(kind.feed_forward, second(y)));
        break;
      case NormPlacement::post_branch:
        y = sum_of(y, after_attention(attend(kind.attention, y)));
        y = sum_of(y, after_feed_forward(feed(kind.feed_forward, y)));
        break;
      case NormPlacement::sandwich:
        y = sum_of(y, after_attention(attend(kind.attention, first(y))));
        y = sum_of(y, after_feed_forward(feed(kind.feed_forward, second(y))));
        break;
      case NormPlacement::post_add:
        y = after_attention(sum_of(y, attend(kind.attention, y)));
        y = after_feed_forward(sum_of(y, feed(kind.feed_forward, y)));
        break;
      case NormPlacement::parallel_one_norm:
        y = sum_of(sum_of(y, attend(kind.attention, first(x))), feed(kind.feed_forward, first(x)));
        break;
      case NormPlacement::parallel_two_norms:
        y = sum_of(sum_of(y, attend(kind.attention, first(x))), feed(kind.feed_forward, second(x)));
        break;
    }
    return y;
  }

  // q, k and v of one head: [positions][width].
  struct Head {
    Rows q, k, v;
  };

  [[nodiscard]] Rows attend(const Attention& attention, const Rows& x) const {
    if (attention.kind == AttentionKind::linear) {
      return linear(x, TensorName::attention_linear_weight);
    }
    Rows merged(x.size());
    for (std::int64_t h = 0; h < attention.heads; ++h) {
      const Head head = attention.kind == AttentionKind::latent ? latent_head(attention, x, h)
                                                                : plain_head(attention, x, h);
      const Rows out = attend_one(attention, head, h);
      for (std::size_t t = 0; t < x.size(); ++t) {
        merged[t].insert(merged[t].end(), out[t].begin(), out[t].end());
      }
    }
    return linear(merged, TensorName::o_weight, find(TensorName::o_bias));
  }

  // One head's columns of a projection, normalised and rotated as the config says.
  [[nodiscard]] Rows head_columns(const Attention& attention, const Rows& x, TensorName weight,
                                  TensorName bias, TensorName norm_weight, std::int64_t h) const {
    Rows columns;
    for (std::size_t t = 0; t < x.size(); ++t) {
      Row all = apply(*find(weight), find(bias), x[t]);
      if (attention.qk_norm == model::QkNorm::full_width) {
        all = normalise(all, NormKind::rms_norm, find(norm_weight), nullptr);
      }
      Row own = slice(all, h * attention.head_dim, attention.head_dim);
      if (attention.qk_norm == model::QkNorm::per_head) {
        own = normalise(own, NormKind::rms_norm, find(norm_weight), nullptr);
      }
      if (config_.position == model::PositionKind::rotary) {
        const auto turned = static_cast<std::int64_t>(config_.rotary_fraction *
                                                      static_cast<double>(attention.head_dim));
        const Row part = rotate(slice(own, 0, turned), t);
        std::copy(part.begin(), part.end(), own.begin());
      }
      columns.push_back(own);
    }
    return columns;
  }

  [[nodiscard]] Head plain_head(const Attention& attention, const Rows& x, std::int64_t h) const {
    const std::int64_t g = h / (attention.heads / attention.kv_heads);
    Head head;
    head.q = head_columns(attention, x, TensorName::q_weight, TensorName::q_bias,
                          TensorName::q_norm_weight, h);
    head.k = head_columns(attention, x, TensorName::k_weight, TensorName::k_bias,
                          TensorName::k_norm_weight, g);
    for (const Row& row : x) {
      const Row all = apply(*find(TensorName::v_weight), find(TensorName::v_bias), row);
      head.v.push_back(slice(all, g * attention.value_head_dim, attention.value_head_dim));
    }
    return head;
  }

  [[nodiscard]] Head latent_head(const Attention& attention, const Rows& x, std::int64_t h) const {
    const std::int64_t rope = attention.rope_head_dim;
    const std::int64_t own = attention.head_dim - rope;
    Head head;
    for (std::size_t t = 0; t < x.size(); ++t) {
      Row in = x[t];
      TensorName up = TensorName::q_weight;
      if (attention.q_lora_rank > 0) {
        in = normalise(apply(*find(TensorName::q_down_weight), nullptr, in), NormKind::rms_norm,
                       find(TensorName::q_latent_norm_weight), nullptr);
        up = TensorName::q_up_weight;
      }
      const Row all = apply(*find(up), nullptr, in);
      Row q = slice(all, h * attention.head_dim, own);
      const Row q_turned = rotate(slice(all, h * attention.head_dim + own, rope), t);
      q.insert(q.end(), q_turned.begin(), q_turned.end());

      const Row down = apply(*find(TensorName::kv_down_weight), nullptr, x[t]);
      const Row latent = normalise(slice(down, 0, attention.kv_lora_rank), NormKind::rms_norm,
                                   find(TensorName::kv_latent_norm_weight), nullptr);
      const Row k_turned = rotate(slice(down, attention.kv_lora_rank, rope), t);
      const Row both = apply(*find(TensorName::kv_up_weight), nullptr, latent);
      const std::int64_t width = own + attention.value_head_dim;
      Row k = slice(both, h * width, own);
      k.insert(k.end(), k_turned.begin(), k_turned.end());
      head.q.push_back(q);
      head.k.push_back(k);
      head.v.push_back(slice(both, h * width + own, attention.value_head_dim));
    }
    return head;
  }

  [[nodiscard]] Rows attend_one(const Attention& attention, const Head& head,
                                std::int64_t h) const {
    Rows out;
    for (std::size_t t = 0; t < head.q.size(); ++t) {
      const auto window = static_cast<std::size_t>(attention.window);
      const std::size_t first = window > 0 && t + 1 > window ? t + 1 - window : 0;
      Row weights;
      for (std::size_t s = first; s <= t; ++s) {
        double score =
            std::inner_product(head.q[t].begin(), head.q[t].end(), head.k[s].begin(), 0.0) /
            std::sqrt(static_cast<double>(attention.head_dim));
        const double cap = attention.score_softcap;
        if (cap > 0) score = cap * std::tanh(score / cap);
        if (config_.position == model::PositionKind::alibi) {
          const double slope =
              std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(attention.heads));
          score -= slope * static_cast<double>(t - s);
        }
        weights.push_back(std::exp(score));
      }
      double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      if (attention.sinks) {
        sum += std::exp((*find(TensorName::sinks))[static_cast<std::size_t>(h)]);
      }
      Row mixed(head.v[0].size(), 0.0);
      for (std::size_t s = first; s <= t; ++s) {
        for (std::size_t i = 0; i < mixed.size(); ++i) {
          mixed[i] += weights[s - first] / sum * head.v[s][i];
        }
      }
      out.push_back(mixed);
    }
    return out;
  }

  // One gated or plain feed-forward of the names given; `expert` picks a slice of stacked matrices.
  struct Names {
    TensorName gate, gate_bias, up, up_bias, down, down_bias;
  };
  [[nodiscard]] Row expert_slice(TensorName name, std::int64_t expert, std::int64_t experts) const {
    const Row* all = find(name);
    if (all == nullptr) return {};
    const auto size = static_cast<std::int64_t>(all->size()) / experts;
    return slice(*all, expert * size, size);
  }
  [[nodiscard]] Row widen_and_narrow(const FeedForward& ffn, const Names& names, const Row& x,
                                     std::int64_t expert, std::int64_t experts) const {
    const auto through = [&](TensorName weight, TensorName bias, const Row& in) {
      const Row b = expert_slice(bias, expert, experts);
      return apply(expert_slice(weight, expert, experts), b.empty() ? nullptr : &b, in);
    };
    Row wide = through(names.up, names.up_bias, x);
    if (ffn.gated) {
      const Row gate = through(names.gate, names.gate_bias, x);
      for (std::size_t i = 0; i < wide.size(); ++i) wide[i] *= activate(ffn.activation, gate[i]);
    } else {
      for (double& value : wide) value = activate(ffn.activation, value);
    }
    return through(names.down, names.down_bias, wide);
  }

  [[nodiscard]] Rows feed(const FeedForward& ffn, const Rows& x) const {
    if (ffn.kind == FeedForwardKind::linear) {
      return linear(x, TensorName::feed_forward_linear_weight);
    }
    constexpr Names kDense{TensorName::gate_weight, TensorName::gate_bias,   TensorName::up_weight,
                           TensorName::up_bias,     TensorName::down_weight, TensorName::down_bias};
    Rows y;
    for (const Row& row : x) {
      y.push_back(ffn.kind == FeedForwardKind::dense ? widen_and_narrow(ffn, kDense, row, 0, 1)
                                                     : mix_experts(ffn, row));
    }
    return y;
  }

  [[nodiscard]] Row mix_experts(const FeedForward& ffn, const Row& x) const {
    constexpr Names kExpert{TensorName::expert_gate_weight, TensorName::expert_gate_bias,
                            TensorName::expert_up_weight,   TensorName::expert_up_bias,
                            TensorName::expert_down_weight, TensorName::expert_down_bias};
    // The shared experts have no biases: no layer has a head_bias.
    constexpr Names kShared{TensorName::shared_gate_weight, TensorName::head_bias,
                            TensorName::shared_up_weight,   TensorName::head_bias,
                            TensorName::shared_down_weight, TensorName::head_bias};
    Row p = apply(*find(TensorName::router_weight), find(TensorName::router_bias), x);
    double sum = 0;
    for (double& value : p) sum += value = std::exp(value);
    for (double& value : p) value /= sum;
    Row choice = p;
    if (const Row* bias = find(TensorName::correction_bias)) choice = sum_of(choice, *bias);
    Row y(x.size(), 0.0);
    for (std::int64_t k = 0; k < ffn.active_experts; ++k) {
      const auto best = std::max_element(choice.begin(), choice.end()) - choice.begin();
      choice[static_cast<std::size_t>(best)] = -1e9;
      const Row out = widen_and_narrow(ffn, kExpert, x, best, ffn.experts);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += p[static_cast<std::size_t>(best)] * out[i];
    }
    if (ffn.shared_width == 0) return y;
    Row shared = widen_and_narrow(ffn, kShared, x, 0, 1);
    if (const Row* gate = find(TensorName::shared_expert_gate_weight)) {
      const double open = sigmoid(apply(*gate, nullptr, x)[0]);
      for (double& value : shared) value *= open;
    }
    return sum_of(y, shared);
  }

  const model::ModelConfig& config_;
  const ParameterValues& values_;
  Place at_;
};

}  // namespace

double reference_loss(const model::ModelConfig& config, const ParameterValues& values,
                      const Batch& batch) {
  Reference reference(config, values);
  double loss = 0;
  for (std::size_t k = 0; k < batch.tokens.size(); ++k) {
    loss += reference.sequence_loss(batch.tokens[k], batch.targets[k]);
  }
  return loss / static_cast<double>(batch.valid);
}

}  // namespace fourhold::interpreter

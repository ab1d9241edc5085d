// Attention by its definition, in doubles, of queries and keys at stated positions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/engine/kernels/partial_attention.h"

namespace fourhold::engine {

// The sequence and position of every row.
struct RowPlace {
  std::int64_t sequence;
  std::int64_t position;
};

inline std::vector<RowPlace> places_of(const Positions& rows) {
  std::vector<RowPlace> places;
  for (std::int64_t sequence = 0; sequence < rows.sequences; ++sequence) {
    for (std::int64_t piece = 0; piece < rows.pieces; ++piece) {
      const std::int64_t first = piece == 0 ? rows.first : rows.second;
      for (std::int64_t i = 0; i < rows.tokens / rows.pieces; ++i) {
        places.push_back({sequence, first + i});
      }
    }
  }
  return places;
}

// Heads, widths, window and scale are read of `shape`; its positions are not.
class PositionedAttention {
 public:
  struct Operands {
    std::vector<double> q, k, v, dout;
    std::vector<RowPlace> queries, keys;
  };

  PositionedAttention(const PartialAttentionShape& shape, Operands operands)
      : shape_(shape), x_(std::move(operands)) {
    out.assign(x_.q.size(), 0);
    dq.assign(x_.q.size(), 0);
    dk.assign(x_.k.size(), 0);
    dv.assign(x_.v.size(), 0);
    for (std::size_t row = 0; row < x_.queries.size(); ++row) {
      for (std::int64_t h = 0; h < shape.heads; ++h) add_query(row, h);
    }
  }

  std::vector<double> out, log_sum_exp, dq, dk, dv;

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  [[nodiscard]] bool sees(const RowPlace& query, const RowPlace& key) const {
    const std::int64_t distance = query.position - key.position;
    return query.sequence == key.sequence && distance >= 0 &&
           (shape_.window == 0 || distance < shape_.window);
  }

  void add_query(std::size_t row, std::int64_t h) {
    const std::size_t width = at(shape_.head_dim);
    const std::size_t q = (row * at(shape_.heads) + at(h)) * width;
    const std::int64_t kv_head = h / (shape_.heads / shape_.kv_heads);
    const auto kv = [&](std::size_t key) {
      return (key * at(shape_.kv_heads) + at(kv_head)) * width;
    };
    std::vector<std::size_t> seen;
    std::vector<double> scores;
    for (std::size_t key = 0; key < x_.keys.size(); ++key) {
      if (!sees(x_.queries[row], x_.keys[key])) continue;
      double score = 0;
      for (std::size_t i = 0; i < width; ++i) score += x_.q[q + i] * x_.k[kv(key) + i];
      seen.push_back(key);
      scores.push_back(score * static_cast<double>(shape_.scale));
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - most);
    log_sum_exp.push_back(most + std::log(sum));
    for (std::size_t s = 0; s < seen.size(); ++s) {
      const double probability = std::exp(scores[s] - log_sum_exp.back());
      for (std::size_t i = 0; i < width; ++i) out[q + i] += probability * x_.v[kv(seen[s]) + i];
    }
    double mean = 0;
    for (std::size_t i = 0; i < width; ++i) mean += x_.dout[q + i] * out[q + i];
    for (std::size_t s = 0; s < seen.size(); ++s) {
      const std::size_t key = kv(seen[s]);
      const double probability = std::exp(scores[s] - log_sum_exp.back());
      double gradient = 0;
      for (std::size_t i = 0; i < width; ++i) gradient += x_.dout[q + i] * x_.v[key + i];
      gradient = probability * (gradient - mean) * static_cast<double>(shape_.scale);
      for (std::size_t i = 0; i < width; ++i) {
        dv[key + i] += probability * x_.dout[q + i];
        dq[q + i] += gradient * x_.k[key + i];
        dk[key + i] += gradient * x_.q[q + i];
      }
    }
  }

  PartialAttentionShape shape_;
  Operands x_;
};

}  // namespace fourhold::engine

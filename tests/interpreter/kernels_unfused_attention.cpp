// Attention as separate operations with scores [T, heads, keys] between them. Keys are the
// positions of the query's own sequence.
#include <algorithm>
#include <cmath>

#include "tests/interpreter/attention_math.h"
#include "tests/interpreter/kernels.h"

namespace fourhold::interpreter {
namespace {

// Calls visit(query row, head, key row, key position) for every pair that is seen.
template <class Visit>
void for_each_pair(const Call& call, std::int64_t heads, const Visit& visit) {
  const AttentionMath math(call);
  const std::vector<TokenPlace> places = call.places(model::Region::inner);
  const auto tokens = static_cast<std::int64_t>(places.size());
  for (std::int64_t row = 0; row < tokens; ++row) {
    for (std::int64_t key = 0; key < tokens; ++key) {
      const TokenPlace& place = places[static_cast<std::size_t>(key)];
      if (!math.sees(places[static_cast<std::size_t>(row)], place)) continue;
      for (std::int64_t h = 0; h < heads; ++h) visit(row, h, key, place.position);
    }
  }
}

double& at(Array& scores, std::int64_t row, std::int64_t head, std::int64_t position) {
  return scores.row(row)[head * scores.dims[2] + position];
}
double at(const Array& scores, std::int64_t row, std::int64_t head, std::int64_t position) {
  return scores.row(row)[head * scores.dims[2] + position];
}

}  // namespace

Results attention_scores_forward(const Call& call) {
  const AttentionMath math(call);
  const Array& q = call.in(0);
  const Array& k = call.in(1);
  Array scores = call.zeros(call.op().outputs[0]);
  const std::vector<TokenPlace> places = call.places(model::Region::inner);
  const std::int64_t width = q.dims[2];
  for_each_pair(call, q.dims[1],
                [&](std::int64_t row, std::int64_t h, std::int64_t key, std::int64_t position) {
                  double product = 0;
                  for (std::int64_t i = 0; i < width; ++i) {
                    product += q.row(row)[h * width + i] * k.row(key)[math.kv_head(h) * width + i];
                  }
                  at(scores, row, h, position) =
                      math.score(product, places[static_cast<std::size_t>(row)],
                                 places[static_cast<std::size_t>(key)], h);
                });
  return {{scores}, {}};
}

Results attention_scores_backward(const Call& call) {
  const AttentionMath math(call);
  const Array& q = call.in(0);
  const Array& k = call.in(1);
  const Array& dscores = call.gradient(0);
  Array dq = zeros_like(q);
  Array dk = zeros_like(k);
  const std::int64_t width = q.dims[2];
  for_each_pair(call, q.dims[1],
                [&](std::int64_t row, std::int64_t h, std::int64_t key, std::int64_t position) {
                  const double* query = q.row(row) + h * width;
                  const double* other = k.row(key) + math.kv_head(h) * width;
                  double product = 0;
                  for (std::int64_t i = 0; i < width; ++i) product += query[i] * other[i];
                  const double dproduct = at(dscores, row, h, position) * math.slope(product);
                  for (std::int64_t i = 0; i < width; ++i) {
                    dq.row(row)[h * width + i] += dproduct * other[i];
                    dk.row(key)[math.kv_head(h) * width + i] += dproduct * query[i];
                  }
                });
  return {{dq, dk}, {}};
}

Results softmax_forward(const Call& call) {
  const Array& scores = call.in(0);
  Array probabilities = zeros_like(scores);
  const std::int64_t heads = scores.dims[1];
  Array most(Dims{scores.rows(), heads});
  std::fill(most.data.begin(), most.data.end(), -1e300);
  Array sums(Dims{scores.rows(), heads});
  for_each_pair(call, heads, [&](std::int64_t row, std::int64_t h, std::int64_t, std::int64_t p) {
    most.row(row)[h] = std::max(most.row(row)[h], at(scores, row, h, p));
  });
  for_each_pair(call, heads, [&](std::int64_t row, std::int64_t h, std::int64_t, std::int64_t p) {
    at(probabilities, row, h, p) = std::exp(at(scores, row, h, p) - most.row(row)[h]);
    sums.row(row)[h] += at(probabilities, row, h, p);
  });
  for (std::int64_t row = 0; row < scores.rows(); ++row) {
    for (std::int64_t h = 0; h < heads; ++h) {
      double sum = sums.row(row)[h];
      if (call.has_parameter(0)) {
        sum += std::exp(call.weight(0, heads)[h] - most.row(row)[h]);
      }
      for (std::int64_t p = 0; p < scores.dims[2]; ++p) at(probabilities, row, h, p) /= sum;
    }
  }
  return {{probabilities}, {}};
}

Results softmax_backward(const Call& call) {
  const Array& probabilities = call.value(call.op().outputs[0]);
  const Array& dprobabilities = call.gradient(0);
  Array dscores = zeros_like(probabilities);
  Results results;
  results.parameters.resize(static_cast<std::size_t>(call.op().parameters.size()));
  if (call.trains(0)) results.parameters[0] = call.parameter_zeros(0);
  const std::int64_t keys = probabilities.dims[2];
  for (std::int64_t row = 0; row < probabilities.rows(); ++row) {
    for (std::int64_t h = 0; h < probabilities.dims[1]; ++h) {
      double mean = 0;
      double all = 0;
      for (std::int64_t p = 0; p < keys; ++p) {
        mean += at(probabilities, row, h, p) * at(dprobabilities, row, h, p);
        all += at(probabilities, row, h, p);
      }
      for (std::int64_t p = 0; p < keys; ++p) {
        at(dscores, row, h, p) =
            at(probabilities, row, h, p) * (at(dprobabilities, row, h, p) - mean);
      }
      // The sink takes the probability that is left.
      if (call.trains(0)) results.parameters[0][static_cast<std::size_t>(h)] -= (1 - all) * mean;
    }
  }
  results.tensors = {dscores};
  return results;
}

Results attention_values_forward(const Call& call) {
  const AttentionMath math(call);
  const Array& weights = call.in(0);
  const Array& v = call.in(1);
  Array out = call.zeros(call.op().outputs[0]);
  const std::int64_t width = v.dims[2];
  for_each_pair(call, weights.dims[1],
                [&](std::int64_t row, std::int64_t h, std::int64_t key, std::int64_t position) {
                  for (std::int64_t i = 0; i < width; ++i) {
                    out.row(row)[h * width + i] +=
                        at(weights, row, h, position) * v.row(key)[math.kv_head(h) * width + i];
                  }
                });
  return {{out}, {}};
}

Results attention_values_backward(const Call& call) {
  const AttentionMath math(call);
  const Array& weights = call.in(0);
  const Array& v = call.in(1);
  const Array& dout = call.gradient(0);
  Array dweights = zeros_like(weights);
  Array dv = zeros_like(v);
  const std::int64_t width = v.dims[2];
  for_each_pair(call, weights.dims[1],
                [&](std::int64_t row, std::int64_t h, std::int64_t key, std::int64_t position) {
                  const std::int64_t g = math.kv_head(h);
                  for (std::int64_t i = 0; i < width; ++i) {
                    const double d = dout.row(row)[h * width + i];
                    at(dweights, row, h, position) += d * v.row(key)[g * width + i];
                    dv.row(key)[g * width + i] += d * at(weights, row, h, position);
                  }
                });
  return {{dweights, dv}, {}};
}

}  // namespace fourhold::interpreter

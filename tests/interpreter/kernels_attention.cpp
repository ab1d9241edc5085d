// Fused causal attention: keeps one log-sum-exp per query and head, and makes probabilities again
// from it in backward (Dao 2023, arXiv 2307.08691). Over context ranks k and v pass round.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/interpreter/attention_math.h"
#include "tests/interpreter/kernels.h"

namespace fourhold::interpreter {
namespace {

double dot(const double* a, const double* b, std::int64_t width) {
  double sum = 0;
  for (std::int64_t i = 0; i < width; ++i) sum += a[i] * b[i];
  return sum;
}

void add_scaled(double* to, double factor, const double* from, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) to[i] += factor * from[i];
}

// k and v of all tokens of the sequences, and which tokens they are.
struct Keys {
  Array k, v;
  std::vector<TokenPlace> places;
  std::vector<std::int64_t> first;  // row where each member's keys begin, and the end
};

Keys all_keys(const Call& call) {
  Keys keys;
  std::vector<const Array*> k;
  std::vector<const Array*> v;
  for (const Payload& payload : call.meet({call.in(1), call.in(2)})) {
    k.push_back(&payload[0]);
    v.push_back(&payload[1]);
  }
  for (const std::int64_t member : call.group()) {
    keys.first.push_back(static_cast<std::int64_t>(keys.places.size()));
    const auto places = call.places_of(member, model::Region::inner);
    keys.places.insert(keys.places.end(), places.begin(), places.end());
  }
  keys.first.push_back(static_cast<std::int64_t>(keys.places.size()));
  keys.k = concatenated(k);
  keys.v = concatenated(v);
  return keys;
}

// One head of one row of q, k, v or the output.
double* head_of(Array& array, std::int64_t row, std::int64_t head) {
  return array.row(row) + head * array.dims[2];
}
const double* head_of(const Array& array, std::int64_t row, std::int64_t head) {
  return array.row(row) + head * array.dims[2];
}

}  // namespace

Results attention_forward(const Call& call) {
  const AttentionMath math(call);
  const Array& q = call.in(0);
  call.check_payload(call.in(1).size() + call.in(2).size(), call.tensor(call.op().inputs[1]).dtype);
  const Keys keys = all_keys(call);
  const std::vector<TokenPlace> queries = call.places(model::Region::inner);
  Array out = call.zeros(call.op().outputs[0]);
  Array log_sums = call.zeros(call.op().outputs[1]);
  const std::int64_t heads = q.dims[1];
  for (std::int64_t row = 0; row < q.rows(); ++row) {
    const TokenPlace& query = queries[static_cast<std::size_t>(row)];
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t g = math.kv_head(h);
      std::vector<std::int64_t> seen;
      std::vector<double> scores;
      double most = -std::numeric_limits<double>::infinity();
      for (std::int64_t key = 0; key < keys.k.rows(); ++key) {
        const TokenPlace& place = keys.places[static_cast<std::size_t>(key)];
        if (!math.sees(query, place)) continue;
        const double product = dot(head_of(q, row, h), head_of(keys.k, key, g), q.dims[2]);
        seen.push_back(key);
        scores.push_back(math.score(product, query, place, h));
        most = std::max(most, scores.back());
      }
      double sum = 0;
      for (const double score : scores) sum += std::exp(score - most);
      if (call.has_parameter(0)) sum += std::exp(call.weight(0, heads)[h] - most);
      const double log_sum = most + std::log(sum);
      log_sums.row(row)[h] = log_sum;
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const TokenPlace& place = keys.places[static_cast<std::size_t>(seen[i])];
        const double probability = std::exp(scores[i] - log_sum) * math.kept(query, place, h);
        add_scaled(head_of(out, row, h), probability, head_of(keys.v, seen[i], g), out.dims[2]);
      }
    }
  }
  return {{out, log_sums}, {}};
}

Results attention_backward(const Call& call) {
  const AttentionMath math(call);
  const Array& q = call.in(0);
  const Array& out = call.value(call.op().outputs[0]);
  const Array& log_sums = call.value(call.op().outputs[1]);
  const Array& dout = call.gradient(0);
  // k and v pass round with their gradients.
  call.check_payload(2 * (call.in(1).size() + call.in(2).size()),
                     call.tensor(call.op().inputs[1]).dtype);
  const Keys keys = all_keys(call);
  const std::vector<TokenPlace> queries = call.places(model::Region::inner);
  Array dq = zeros_like(q);
  Array dk = zeros_like(keys.k);
  Array dv = zeros_like(keys.v);
  const std::int64_t heads = q.dims[1];
  Results results;
  results.parameters.resize(static_cast<std::size_t>(call.op().parameters.size()));
  if (call.trains(0)) results.parameters[0] = call.parameter_zeros(0);
  for (std::int64_t row = 0; row < q.rows(); ++row) {
    const TokenPlace& query = queries[static_cast<std::size_t>(row)];
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t g = math.kv_head(h);
      const double log_sum = log_sums.row(row)[h];
      const double mean = dot(head_of(dout, row, h), head_of(out, row, h), out.dims[2]);
      if (call.trains(0)) {
        const double sink = std::exp(call.weight(0, heads)[h] - log_sum);
        results.parameters[0][static_cast<std::size_t>(h)] -= sink * mean;
      }
      for (std::int64_t key = 0; key < keys.k.rows(); ++key) {
        const TokenPlace& place = keys.places[static_cast<std::size_t>(key)];
        if (!math.sees(query, place)) continue;
        const double product = dot(head_of(q, row, h), head_of(keys.k, key, g), q.dims[2]);
        const double probability = std::exp(math.score(product, query, place, h) - log_sum);
        const double kept = math.kept(query, place, h);
        const double dprobability =
            kept * dot(head_of(dout, row, h), head_of(keys.v, key, g), out.dims[2]);
        const double dproduct = probability * (dprobability - mean) * math.slope(product);
        add_scaled(head_of(dv, key, g), probability * kept, head_of(dout, row, h), out.dims[2]);
        add_scaled(head_of(dq, row, h), dproduct, head_of(keys.k, key, g), q.dims[2]);
        add_scaled(head_of(dk, key, g), dproduct, head_of(q, row, h), q.dims[2]);
      }
    }
  }
  // Every member takes the sum of what all found for its keys.
  const std::vector<Payload>& all = call.meet({dk, dv});
  const std::int64_t place = call.place_in_group();
  const std::int64_t first = keys.first[static_cast<std::size_t>(place)];
  const std::int64_t count = keys.first[static_cast<std::size_t>(place) + 1] - first;
  Array own_dk = zeros_like(call.in(1));
  Array own_dv = zeros_like(call.in(2));
  for (const Payload& payload : all) {
    add_to(own_dk, rows_of(payload[0], first, count));
    add_to(own_dv, rows_of(payload[1], first, count));
  }
  results.tensors = {dq, own_dk, own_dv};
  return results;
}

}  // namespace fourhold::interpreter

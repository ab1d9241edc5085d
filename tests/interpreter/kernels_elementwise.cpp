// Activations, gates, dropout: what works element by element.
#include <cmath>
#include <numbers>

#include "tests/interpreter/counter_random.h"
#include "tests/interpreter/kernels.h"

namespace fourhold::interpreter {
namespace {

using model::ActivationKind;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double activated(ActivationKind kind, double x) {
  switch (kind) {
    case ActivationKind::gelu:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case ActivationKind::relu:
      return x > 0 ? x : 0;
    case ActivationKind::silu:
      return x * sigmoid(x);
  }
  return x;
}

double slope(ActivationKind kind, double x) {
  switch (kind) {
    case ActivationKind::gelu: {
      const double density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
      return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * density;
    }
    case ActivationKind::relu:
      return x > 0 ? 1 : 0;
    case ActivationKind::silu:
      return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
  }
  return 1;
}

// f(i) for every element, in an array like `shape`.
template <class Function>
Array elements(const Array& shape, const Function& f) {
  Array result = zeros_like(shape);
  for (std::size_t i = 0; i < result.data.size(); ++i) result.data[i] = f(i);
  return result;
}

// The weight a routed row's activation is scaled by, 1 where it is not.
double row_scale(const Call& call, std::size_t i, const Array& shape) {
  if (call.op().inputs.size() < 3) return 1;
  return call.in(2).data[i / static_cast<std::size_t>(shape.width())];
}

// The probability with which the element is dropped.
double dropout_probability(const Call& call) {
  const bool scores = call.tensor(call.op().outputs[1]).name == model::TensorName::attention_mask;
  if (scores) return call.config().attention_dropout;
  const bool layer = call.block.sharded.operations.block == model::Block::layer;
  return layer ? call.config().dropout : call.config().embedding_dropout;
}

// Values of `a` that share one of `b`: a row where `b` has one value for each. A rank may have
// none.
std::size_t values_per_factor(const Array& a, const Array& b) {
  return b.data.empty() ? 1 : a.data.size() / b.data.size();
}

}  // namespace

Results activation_forward(const Call& call) {
  const Array& x = call.in(0);
  const ActivationKind kind = call.op().activation;
  return {{elements(x, [&](std::size_t i) { return activated(kind, x.data[i]); })}, {}};
}

Results activation_backward(const Call& call) {
  const Array& x = call.in(0);
  const Array& dy = call.gradient(0);
  const ActivationKind kind = call.op().activation;
  return {{elements(x, [&](std::size_t i) { return dy.data[i] * slope(kind, x.data[i]); })}, {}};
}

Results gated_activation_forward(const Call& call) {
  const Array& gate = call.in(0);
  const Array& up = call.in(1);
  return {{elements(gate,
                    [&](std::size_t i) {
                      return activated(call.op().activation, gate.data[i]) * up.data[i] *
                             row_scale(call, i, gate);
                    })},
          {}};
}

Results gated_activation_backward(const Call& call) {
  const Array& gate = call.in(0);
  const Array& up = call.in(1);
  const Array& dy = call.gradient(0);
  const ActivationKind kind = call.op().activation;
  Results results;
  results.tensors.push_back(elements(gate, [&](std::size_t i) {
    return dy.data[i] * up.data[i] * slope(kind, gate.data[i]) * row_scale(call, i, gate);
  }));
  results.tensors.push_back(elements(gate, [&](std::size_t i) {
    return dy.data[i] * activated(kind, gate.data[i]) * row_scale(call, i, gate);
  }));
  if (call.op().inputs.size() < 3) return results;
  Array scale = zeros_like(call.in(2));
  for (std::size_t i = 0; i < dy.data.size(); ++i) {
    scale.data[i / static_cast<std::size_t>(dy.width())] +=
        dy.data[i] * activated(kind, gate.data[i]) * up.data[i];
  }
  results.tensors.push_back(std::move(scale));
  return results;
}

Results multiply_forward(const Call& call) {
  const Array& a = call.in(0);
  const Array& b = call.in(1);
  const std::size_t share = values_per_factor(a, b);
  return {{elements(a, [&](std::size_t i) { return a.data[i] * b.data[i / share]; })}, {}};
}

Results multiply_backward(const Call& call) {
  const Array& a = call.in(0);
  const Array& b = call.in(1);
  const Array& dy = call.gradient(0);
  const std::size_t share = values_per_factor(a, b);
  Array db = zeros_like(b);
  for (std::size_t i = 0; i < dy.data.size(); ++i) db.data[i / share] += dy.data[i] * a.data[i];
  return {{elements(a, [&](std::size_t i) { return dy.data[i] * b.data[i / share]; }), db}, {}};
}

Results scale_rows_forward(const Call& call) {
  const Array& x = call.in(0);
  const Array& score = call.in(1);
  const auto width = static_cast<std::size_t>(x.width());
  return {{elements(x, [&](std::size_t i) { return x.data[i] * sigmoid(score.data[i / width]); })},
          {}};
}

Results scale_rows_backward(const Call& call) {
  const Array& x = call.in(0);
  const Array& score = call.in(1);
  const Array& dy = call.gradient(0);
  const auto width = static_cast<std::size_t>(x.width());
  Array dscore = zeros_like(score);
  for (std::size_t i = 0; i < dy.data.size(); ++i) {
    const double s = sigmoid(score.data[i / width]);
    dscore.data[i / width] += dy.data[i] * x.data[i] * s * (1 - s);
  }
  return {{elements(x, [&](std::size_t i) { return dy.data[i] * sigmoid(score.data[i / width]); }),
           dscore},
          {}};
}

Results softcap_forward(const Call& call) {
  const Array& x = call.in(0);
  const double cap = call.config().logit_softcap;
  return {{elements(x, [&](std::size_t i) { return cap * std::tanh(x.data[i] / cap); })}, {}};
}

Results softcap_backward(const Call& call) {
  const Array& y = call.value(call.op().outputs[0]);
  const Array& dy = call.gradient(0);
  const double cap = call.config().logit_softcap;
  return {{elements(y,
                    [&](std::size_t i) {
                      return dy.data[i] * (1 - y.data[i] * y.data[i] / (cap * cap));
                    })},
          {}};
}

// All numbers are doubles here: a cast changes nothing.
Results cast_forward(const Call& call) { return {{call.in(0)}, {}}; }
Results cast_backward(const Call& call) { return {{call.gradient(0)}, {}}; }

Results add_forward(const Call& call) {
  Array sum = call.in(0);
  add_to(sum, call.in(1));
  return {{sum}, {}};
}

Results add_backward(const Call& call) { return {{call.gradient(0), call.gradient(0)}, {}}; }

// The mask depends on which element of the whole model it is for, not on who computes it.
Results dropout_forward(const Call& call) {
  const Array& x = call.in(0);
  const model::Tensor& mask_tensor = call.tensor(call.op().outputs[1]);
  const std::vector<TokenPlace> places = call.places(mask_tensor.region);
  const double probability = dropout_probability(call);
  const bool split_by_head = mask_tensor.shape.rank() == 3;
  const std::int64_t first = split_by_head ? call.at().tp * x.width() : 0;
  const Array mask = elements(x, [&](std::size_t i) {
    const auto width = static_cast<std::size_t>(x.width());
    const TokenPlace& place = places[i / width];
    const double unit =
        random_unit({static_cast<std::int64_t>(mask_tensor.name), call.layer, place.sequence,
                     place.position, first + static_cast<std::int64_t>(i % width)});
    return unit < probability ? 0.0 : 1.0;
  });
  const Array out =
      elements(x, [&](std::size_t i) { return x.data[i] * mask.data[i] / (1 - probability); });
  return {{out, mask}, {}};
}

Results dropout_backward(const Call& call) {
  const Array& mask = call.value(call.op().outputs[1]);
  const Array& dy = call.gradient(0);
  const double probability = dropout_probability(call);
  return {
      {elements(dy, [&](std::size_t i) { return dy.data[i] * mask.data[i] / (1 - probability); })},
      {}};
}

}  // namespace fourhold::interpreter

// The loss: sum over valid tokens / valid tokens of the global batch. tp splits the vocabulary.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/interpreter/kernels.h"
#include "tests/interpreter/parameters.h"

namespace fourhold::interpreter {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// This rank's columns of the vocabulary.
struct Columns {
  std::int64_t first = 0;
  std::int64_t real = 0;  // those that are no padding
};

Columns columns_of(const Call& call, std::int64_t local) {
  const std::int64_t vocab = call.config().vocab;
  const std::int64_t first =
      first_of(call.setting.plan, call.rank, {model::Dim::vocab, vocab}, local);
  return {first, std::clamp<std::int64_t>(vocab - first, 0, local)};
}

// Log-softmax of logits [T, local vocabulary], and the sum of the valid tokens' losses: largest
// logit, sum of exponentials and the target's logit of each token are put together over the ranks.
struct LogSoftmax {
  Array values;
  double loss = 0;
};

LogSoftmax log_softmax_of(const Call& call, const Array& logits, const Array& targets) {
  const Columns columns = columns_of(call, logits.width());
  Array own(Dims{logits.rows(), 3});
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    double* numbers = own.row(row);
    numbers[0] = -kInfinity;
    for (std::int64_t c = 0; c < columns.real; ++c) {
      numbers[0] = std::max(numbers[0], logits.row(row)[c]);
    }
    for (std::int64_t c = 0; c < columns.real; ++c) {
      numbers[1] += std::exp(logits.row(row)[c] - numbers[0]);
    }
    const auto target = static_cast<std::int64_t>(targets.data.data()[row]) - columns.first;
    if (target >= 0 && target < columns.real) numbers[2] = logits.row(row)[target];
  }
  const std::vector<Payload>& all = call.meet({own});
  LogSoftmax result{zeros_like(logits), 0};
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    double most = -kInfinity;
    double sum = 0;
    double target_logit = 0;
    for (const Payload& payload : all) most = std::max(most, payload[0].row(row)[0]);
    for (const Payload& payload : all) {
      const double* numbers = payload[0].row(row);
      if (numbers[1] > 0) sum += numbers[1] * std::exp(numbers[0] - most);
      target_logit += numbers[2];
    }
    const double log_sum = most + std::log(sum);
    for (std::int64_t c = 0; c < logits.width(); ++c) {
      result.values.row(row)[c] = c < columns.real ? logits.row(row)[c] - log_sum : -kInfinity;
    }
    if (targets.data.data()[row] >= 0) result.loss += log_sum - target_logit;
  }
  return result;
}

// The gradient of the logits, from the log-softmax.
Array logits_gradient(const Call& call, const Array& log_softmax, const Array& targets) {
  const Columns columns = columns_of(call, log_softmax.width());
  const double valid = call.valid_tokens();
  Array gradient = zeros_like(log_softmax);
  for (std::int64_t row = 0; row < gradient.rows(); ++row) {
    const auto target = static_cast<std::int64_t>(targets.data.data()[row]);
    if (target < 0) continue;
    for (std::int64_t c = 0; c < gradient.width(); ++c) {
      gradient.row(row)[c] = std::exp(log_softmax.row(row)[c]) / valid;
      if (c == target - columns.first) gradient.row(row)[c] -= 1 / valid;
    }
  }
  return gradient;
}

Array scalar(double value) {
  Array array(Dims{});
  array.data = {value};
  return array;
}

}  // namespace

Results cross_entropy_forward(const Call& call) {
  call.check_payload(3 * call.in(0).rows(), DType::fp32);
  const LogSoftmax result = log_softmax_of(call, call.in(0), call.in(1));
  return {{scalar(result.loss / call.valid_tokens()), result.values}, {}};
}

Results cross_entropy_backward(const Call& call) {
  return {{logits_gradient(call, call.value(call.op().outputs[1]), call.in(1)), Array{}}, {}};
}

Results chunked_loss_forward(const Call& call) {
  const Array& x = call.in(0);
  const Array& targets = call.in(1);
  call.check_payload(3 * x.rows(), DType::fp32);
  const std::int64_t width = x.width();
  const std::int64_t columns = call.parameter(0).shape[0].size;
  const double* w = call.weight(0, columns * width);
  const double cap = call.config().logit_softcap;
  const std::int64_t chunk = call.op().forward_transients[0].shape[0].size;
  double loss = 0;
  Array dx = zeros_like(x);
  std::vector<double> dw = call.parameter_zeros(0);
  std::vector<double> db(static_cast<std::size_t>(columns), 0.0);
  for (std::int64_t first = 0; first < x.rows(); first += chunk) {
    const std::int64_t count = std::min(chunk, x.rows() - first);
    Array logits(Dims{count, columns});
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int64_t c = 0; c < columns; ++c) {
        double sum = call.has_parameter(1) ? call.weight(1, columns)[c] : 0;
        for (std::int64_t i = 0; i < width; ++i) sum += x.row(first + row)[i] * w[c * width + i];
        logits.row(row)[c] = cap > 0 ? cap * std::tanh(sum / cap) : sum;
      }
    }
    const Array chunk_targets = rows_of(targets, first, count);
    const LogSoftmax result = log_softmax_of(call, logits, chunk_targets);
    loss += result.loss;
    const Array gradient = logits_gradient(call, result.values, chunk_targets);
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const double capped = cap > 0 ? logits.row(row)[c] / cap : 0;
        const double d = gradient.row(row)[c] * (1 - capped * capped);
        db[static_cast<std::size_t>(c)] += d;
        for (std::int64_t i = 0; i < width; ++i) {
          dx.row(first + row)[i] += d * w[c * width + i];
          dw[static_cast<std::size_t>(c * width + i)] += d * x.row(first + row)[i];
        }
      }
    }
  }
  Results results{{scalar(loss / call.valid_tokens()), dx}, {dw, db}};
  return results;
}

}  // namespace fourhold::interpreter

// x W^T + bias, dense or by expert.
#include <algorithm>

#include "tests/interpreter/fault.h"
#include "tests/interpreter/kernels.h"
#include "tests/interpreter/parameters.h"

namespace fourhold::interpreter {
namespace {

bool is_expert(const Call& call) { return call.parameter(0).shape[0].dim == model::Dim::experts; }

std::int64_t matrices_of(const Call& call) {
  return is_expert(call) ? call.parameter(0).shape[0].size : 1;
}

// Which matrix of the parameter a row uses: its expert's place among the rank's own.
std::int64_t matrix_of(const Call& call, const Array& rows, std::int64_t row) {
  if (!is_expert(call)) return 0;
  const plan::LocalParameter& parameter = call.parameter(0);
  const std::int64_t own = parameter.shape[0].size;
  const std::int64_t first =
      first_of(call.setting.plan, call.rank, parameter.use.parameter.shape[0], own);
  const std::int64_t expert = rows.routed.at(static_cast<std::size_t>(row)).expert - first;
  if (expert < 0 || expert >= own) throw ProgramFault("a row reached a rank without its expert");
  return expert;
}

// A sum over tp follows where the inputs are split: the bias then counts once, on the first rank.
bool adds_bias(const Call& call) {
  if (!call.has_parameter(1)) return false;
  const model::Shape& input = call.tensor(call.op().inputs[0]).shape;
  const bool partial = std::any_of(input.begin(), input.end(), [](const model::Extent& extent) {
    return extent.dim == model::Dim::heads || extent.dim == model::Dim::ffn ||
           extent.dim == model::Dim::expert_ffn;
  });
  return !partial || call.at().tp == 0;
}

}  // namespace

Results linear_forward(const Call& call) {
  const Array& x = call.in(0);
  Array y = call.zeros(call.op().outputs[0], x.rows());
  y.routed = x.routed;
  const std::int64_t in = x.width();
  const std::int64_t out = y.width();
  const std::int64_t matrices = matrices_of(call);
  const double* weights = call.weight(0, matrices * in * out);
  const double* biases = adds_bias(call) ? call.weight(1, matrices * out) : nullptr;
  for (std::int64_t row = 0; row < x.rows(); ++row) {
    const std::int64_t matrix = matrix_of(call, x, row);
    const double* w = weights + matrix * in * out;
    const double* from = x.row(row);
    double* to = y.row(row);
    for (std::int64_t o = 0; o < out; ++o) {
      double sum = biases == nullptr ? 0 : biases[matrix * out + o];
      for (std::int64_t i = 0; i < in; ++i) sum += from[i] * w[o * in + i];
      to[o] = sum;
    }
  }
  return {{y}, {}};
}

Results linear_backward(const Call& call) {
  const Array& dy = call.gradient(0);
  Array dx = call.zeros(call.op().inputs[0], dy.rows());
  dx.routed = dy.routed;
  const std::int64_t in = dx.width();
  const std::int64_t out = dy.width();
  Results results;
  results.parameters.resize(static_cast<std::size_t>(call.op().parameters.size()));
  const double* weights = call.weight(0, matrices_of(call) * in * out);
  for (std::int64_t row = 0; row < dy.rows(); ++row) {
    const double* w = weights + matrix_of(call, dy, row) * in * out;
    const double* from = dy.row(row);
    double* to = dx.row(row);
    for (std::int64_t o = 0; o < out; ++o) {
      for (std::int64_t i = 0; i < in; ++i) to[i] += from[o] * w[o * in + i];
    }
  }
  if (call.trains(0)) {
    const Array& x = call.in(0);
    if (x.routed != dy.routed) throw ProgramFault("rows and their gradients are not the same rows");
    std::vector<double> dw = call.parameter_zeros(0);
    for (std::int64_t row = 0; row < dy.rows(); ++row) {
      double* matrix = dw.data() + matrix_of(call, dy, row) * in * out;
      const double* from = dy.row(row);
      const double* input = x.row(row);
      for (std::int64_t o = 0; o < out; ++o) {
        for (std::int64_t i = 0; i < in; ++i) matrix[o * in + i] += from[o] * input[i];
      }
    }
    results.parameters[0] = std::move(dw);
  }
  if (call.trains(1)) {
    std::vector<double> db = call.parameter_zeros(1);
    for (std::int64_t row = 0; row < dy.rows() && adds_bias(call); ++row) {
      double* bias = db.data() + matrix_of(call, dy, row) * out;
      for (std::int64_t o = 0; o < out; ++o) bias[o] += dy.row(row)[o];
    }
    results.parameters[1] = std::move(db);
  }
  results.tensors = {std::move(dx)};
  return results;
}

Results add_bias_forward(const Call& call) {
  Array y = call.in(0);
  const double* bias = call.weight(0, y.width());
  for (std::int64_t row = 0; row < y.rows(); ++row) {
    for (std::int64_t o = 0; o < y.width(); ++o) y.row(row)[o] += bias[o];
  }
  return {{y}, {}};
}

Results add_bias_backward(const Call& call) {
  const Array& dy = call.gradient(0);
  Results results{{dy}, {{}}};
  if (!call.trains(0)) return results;
  std::vector<double> db = call.parameter_zeros(0);
  for (std::int64_t row = 0; row < dy.rows(); ++row) {
    for (std::int64_t o = 0; o < dy.width(); ++o) {
      db[static_cast<std::size_t>(o)] += dy.row(row)[o];
    }
  }
  results.parameters[0] = std::move(db);
  return results;
}

}  // namespace fourhold::interpreter

// Layer and RMS norms over a row's last width, which tp may have split.
#include <cmath>

#include "tests/interpreter/kernels.h"

namespace fourhold::interpreter {
namespace {

constexpr double kEpsilon = 1e-5;

// The sizes of one call: rows that are normalised, and the width of one.
struct Sizes {
  std::int64_t rows = 0;
  std::int64_t width = 0;        // on this rank
  std::int64_t whole_width = 0;  // over the ranks that share a row
};

Sizes sizes_of(const Call& call, const Array& x) {
  const model::Shape& statistics = call.tensor(call.op().outputs[1]).shape;
  const std::int64_t rows = statistics.elements() / statistics[statistics.rank() - 1].size;
  const std::int64_t width = x.size() / rows;
  return {rows, width, width * static_cast<std::int64_t>(call.group().size())};
}

// Sums one number per row over the ranks that share the rows.
std::vector<double> summed(const Call& call, std::vector<double> numbers) {
  Array own;
  own.dims = {static_cast<std::int64_t>(numbers.size())};
  own.data = std::move(numbers);
  call.check_payload(own.size(), DType::fp32);
  const std::vector<Payload>& all = call.meet({own});
  Array total = zeros_like(own);
  for (const Payload& payload : all) add_to(total, payload[0]);
  return total.data;
}

double weight_at(const Call& call, const Sizes& sizes, std::int64_t i) {
  return call.has_parameter(0) ? call.weight(0, sizes.width)[i] : 1.0;
}

}  // namespace

Results norm_forward(const Call& call) {
  const Array& x = call.in(0);
  const Sizes sizes = sizes_of(call, x);
  const bool centred = call.op().norm == model::NormKind::layer_norm;
  std::vector<double> squares(static_cast<std::size_t>(sizes.rows), 0.0);
  std::vector<double> means(static_cast<std::size_t>(sizes.rows), 0.0);
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    const double* values = x.data.data() + row * sizes.width;
    double& mean = means[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; centred && i < sizes.width; ++i) {
      mean += values[i] / static_cast<double>(sizes.width);
    }
    for (std::int64_t i = 0; i < sizes.width; ++i) {
      squares[static_cast<std::size_t>(row)] += (values[i] - mean) * (values[i] - mean);
    }
  }
  squares = summed(call, std::move(squares));
  Array out = x;
  Array normalised = x;
  Array statistics = call.zeros(call.op().outputs[1]);
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    const double mean = means[static_cast<std::size_t>(row)];
    const double variance =
        squares[static_cast<std::size_t>(row)] / static_cast<double>(sizes.whole_width);
    const double reciprocal = 1 / std::sqrt(variance + kEpsilon);
    double* stored = statistics.data.data() + row * (centred ? 2 : 1);
    if (centred) *stored++ = mean;
    *stored = reciprocal;
    for (std::int64_t i = 0; i < sizes.width; ++i) {
      const std::int64_t at = row * sizes.width + i;
      normalised.data[static_cast<std::size_t>(at)] = (x.data.data()[at] - mean) * reciprocal;
      double& y = out.data[static_cast<std::size_t>(at)];
      y = normalised.data.data()[at] * weight_at(call, sizes, i);
      if (call.has_parameter(1)) y += call.weight(1, sizes.width)[i];
    }
  }
  Results results{{out, statistics}, {}};
  if (call.op().outputs.size() > 2) {
    results.tensors.push_back(x);
    results.tensors.push_back(normalised);
  }
  return results;
}

Results norm_backward(const Call& call) {
  const model::Operation& op = call.op();
  const bool wide = op.outputs.size() > 2;  // a wide copy of x was saved in its place
  const Array& x = wide ? call.value(op.outputs[2]) : call.in(0);
  const Array& statistics = call.value(op.outputs[1]);
  const Array& dy = call.gradient(0);
  const Sizes sizes = sizes_of(call, x);
  const bool centred = op.norm == model::NormKind::layer_norm;
  Array normalised = x;
  std::vector<double> products(static_cast<std::size_t>(sizes.rows), 0.0);
  std::vector<double> sums(static_cast<std::size_t>(sizes.rows), 0.0);
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    const double* stored = statistics.data.data() + row * (centred ? 2 : 1);
    const double mean = centred ? stored[0] : 0;
    const double reciprocal = stored[centred ? 1 : 0];
    for (std::int64_t i = 0; i < sizes.width; ++i) {
      const auto at = static_cast<std::size_t>(row * sizes.width + i);
      normalised.data[at] = (x.data[at] - mean) * reciprocal;
      const double scaled = dy.data[at] * weight_at(call, sizes, i);
      products[static_cast<std::size_t>(row)] += scaled * normalised.data[at];
      if (centred) sums[static_cast<std::size_t>(row)] += scaled;
    }
  }
  products = summed(call, std::move(products));
  Results results;
  results.parameters.resize(static_cast<std::size_t>(op.parameters.size()));
  for (int k = 0; k < op.parameters.size(); ++k) {
    if (!call.trains(k)) continue;
    const Array& factor = wide ? call.value(op.outputs[3]) : normalised;
    std::vector<double> gradient = call.parameter_zeros(k);
    for (std::size_t at = 0; at < dy.data.size(); ++at) {
      gradient[at % static_cast<std::size_t>(sizes.width)] +=
          dy.data[at] * (k == 0 ? factor.data[at] : 1.0);
    }
    results.parameters[static_cast<std::size_t>(k)] = std::move(gradient);
  }
  Array dx = zeros_like(x);
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    const double reciprocal = statistics.data.data()[row * (centred ? 2 : 1) + (centred ? 1 : 0)];
    const auto width = static_cast<double>(sizes.whole_width);
    for (std::int64_t i = 0; i < sizes.width; ++i) {
      const auto at = static_cast<std::size_t>(row * sizes.width + i);
      dx.data[at] =
          reciprocal *
          (dy.data[at] * weight_at(call, sizes, i) - sums[static_cast<std::size_t>(row)] / width -
           normalised.data[at] * products[static_cast<std::size_t>(row)] / width);
    }
  }
  results.tensors = {std::move(dx)};
  return results;
}

}  // namespace fourhold::interpreter

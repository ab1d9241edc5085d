// What depends on which token a row is: lookups, positions, rotation; and the pieces of latents.
#include <algorithm>
#include <cmath>

#include "tests/interpreter/fault.h"
#include "tests/interpreter/kernels.h"
#include "tests/interpreter/parameters.h"

namespace fourhold::interpreter {
namespace {

constexpr double kRotaryBase = 10000;

// Calls visit(row of ids, row of this rank's part of the table) for the tokens whose row it holds.
template <class Visit>
void for_each_own_token(const Call& call, const Array& ids, const Visit& visit) {
  const plan::LocalParameter& table = call.parameter(0);
  const std::int64_t own = table.shape[0].size;
  const std::int64_t first =
      first_of(call.setting.plan, call.rank, table.use.parameter.shape[0], own);
  for (std::int64_t row = 0; row < ids.rows(); ++row) {
    const auto id = static_cast<std::int64_t>(ids.data[static_cast<std::size_t>(row)]) - first;
    if (id >= 0 && id < own) visit(row, id);
  }
}

// Rows of a learned table that stand before position 0 (opt has two).
std::int64_t position_offset(const model::ModelConfig& config) {
  return config.max_positions > 0 ? config.position_rows - config.max_positions : 0;
}

// Rotates pairs (i, i + half) of the rotated columns of each head; the inverse turns back.
Array rotated(const Call& call, const Array& x, double direction) {
  const model::Tensor& tensor = call.tensor(call.op().inputs[0]);
  const model::Attention& attention = call.layer_kind().attention;
  const std::int64_t head = tensor.shape[tensor.shape.rank() - 1].size;
  const bool latent = attention.kind == model::AttentionKind::latent;
  const std::int64_t turned =
      latent ? attention.rope_head_dim
             : static_cast<std::int64_t>(
                   std::lround(static_cast<double>(head) * call.config().rotary_fraction));
  const std::int64_t first =
      latent ? head - turned : 0;  // the rotated part of a latent q comes last
  const std::vector<TokenPlace> places = call.places(tensor.region);
  Array y = x;
  for (std::int64_t row = 0; row < x.rows(); ++row) {
    const auto position = static_cast<double>(places[static_cast<std::size_t>(row)].position);
    for (std::int64_t start = first; start < x.width(); start += head) {
      for (std::int64_t i = 0; i < turned / 2; ++i) {
        const double angle =
            direction * position *
            std::pow(kRotaryBase, -2.0 * static_cast<double>(i) / static_cast<double>(turned));
        const double a = x.row(row)[start + i];
        const double b = x.row(row)[start + i + turned / 2];
        y.row(row)[start + i] = a * std::cos(angle) - b * std::sin(angle);
        y.row(row)[start + i + turned / 2] = a * std::sin(angle) + b * std::cos(angle);
      }
    }
  }
  return y;
}

}  // namespace

Results embedding_lookup_forward(const Call& call) {
  const Array& ids = call.in(0);
  Array out = call.zeros(call.op().outputs[0]);
  const std::int64_t width = out.width();
  for_each_own_token(call, ids, [&](std::int64_t row, std::int64_t id) {
    const double* from = call.weight(0, call.parameter(0).shape[0].size * width) + id * width;
    std::copy(from, from + width, out.row(row));
  });
  return {{out}, {}};
}

Results embedding_lookup_backward(const Call& call) {
  const Array& dy = call.gradient(0);
  Results results{{Array{}}, {{}}};
  if (!call.trains(0)) return results;
  std::vector<double> table = call.parameter_zeros(0);
  for_each_own_token(call, call.in(0), [&](std::int64_t row, std::int64_t id) {
    for (std::int64_t i = 0; i < dy.width(); ++i) {
      table[static_cast<std::size_t>(id * dy.width() + i)] += dy.row(row)[i];
    }
  });
  results.parameters[0] = std::move(table);
  return results;
}

Results add_positions_forward(const Call& call) {
  Array x = call.in(0);
  const double* table = call.weight(0, call.config().position_rows * x.width());
  const auto places = call.places(call.tensor(call.op().inputs[0]).region);
  for (std::int64_t row = 0; row < x.rows(); ++row) {
    const std::int64_t entry =
        places[static_cast<std::size_t>(row)].position + position_offset(call.config());
    for (std::int64_t i = 0; i < x.width(); ++i) x.row(row)[i] += table[entry * x.width() + i];
  }
  return {{x}, {}};
}

Results add_positions_backward(const Call& call) {
  const Array& dy = call.gradient(0);
  Results results{{dy}, {{}}};
  if (!call.trains(0)) return results;
  std::vector<double> table = call.parameter_zeros(0);
  const auto places = call.places(call.tensor(call.op().inputs[0]).region);
  for (std::int64_t row = 0; row < dy.rows(); ++row) {
    const std::int64_t entry =
        places[static_cast<std::size_t>(row)].position + position_offset(call.config());
    for (std::int64_t i = 0; i < dy.width(); ++i) {
      table[static_cast<std::size_t>(entry * dy.width() + i)] += dy.row(row)[i];
    }
  }
  results.parameters[0] = std::move(table);
  return results;
}

Results rotary_forward(const Call& call) { return {{rotated(call, call.in(0), 1)}, {}}; }
Results rotary_backward(const Call& call) { return {{rotated(call, call.gradient(0), -1)}, {}}; }

Results split_latent_forward(const Call& call) {
  const Array& latent = call.in(0);
  Array compressed = call.zeros(call.op().outputs[0]);
  Array rotary = call.zeros(call.op().outputs[1]);
  for (std::int64_t row = 0; row < latent.rows(); ++row) {
    const double* from = latent.row(row);
    std::copy(from, from + compressed.width(), compressed.row(row));
    std::copy(from + compressed.width(), from + latent.width(), rotary.row(row));
  }
  return {{compressed, rotary}, {}};
}

Results split_latent_backward(const Call& call) {
  const Array& compressed = call.gradient(0);
  const Array& rotary = call.gradient(1);
  Array latent = call.zeros(call.op().inputs[0]);
  for (std::int64_t row = 0; row < latent.rows(); ++row) {
    std::copy(compressed.row(row), compressed.row(row) + compressed.width(), latent.row(row));
    std::copy(rotary.row(row), rotary.row(row) + rotary.width(),
              latent.row(row) + compressed.width());
  }
  return {{latent}, {}};
}

Results concatenate_forward(const Call& call) {
  const Array& left = call.in(0);
  const Array& right = call.in(1);
  Array joined = call.zeros(call.op().outputs[0]);
  for (std::int64_t row = 0; row < joined.rows(); ++row) {
    std::copy(left.row(row), left.row(row) + left.width(), joined.row(row));
    std::copy(right.row(row), right.row(row) + right.width(), joined.row(row) + left.width());
  }
  return {{joined}, {}};
}

Results concatenate_backward(const Call& call) {
  const Array& joined = call.gradient(0);
  Array left = call.zeros(call.op().inputs[0]);
  Array right = call.zeros(call.op().inputs[1]);
  for (std::int64_t row = 0; row < joined.rows(); ++row) {
    const double* from = joined.row(row);
    std::copy(from, from + left.width(), left.row(row));
    std::copy(from + left.width(), from + joined.width(), right.row(row));
  }
  return {{left, right}, {}};
}

// k of a head is its own unrotated part, then the rotated part all heads share; v follows in
// k_and_v.
Results latent_assemble_forward(const Call& call) {
  const Array& k_and_v = call.in(0);
  const Array& rotary = call.in(1);
  Array k = call.zeros(call.op().outputs[0]);
  Array v = call.zeros(call.op().outputs[1]);
  const std::int64_t heads = k.dims[1];
  const std::int64_t own = k.dims[2] - rotary.width();
  const std::int64_t both = own + v.dims[2];
  for (std::int64_t row = 0; row < k.rows(); ++row) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const double* from = k_and_v.row(row) + h * both;
      double* key = k.row(row) + h * k.dims[2];
      std::copy(from, from + own, key);
      std::copy(rotary.row(row), rotary.row(row) + rotary.width(), key + own);
      std::copy(from + own, from + both, v.row(row) + h * v.dims[2]);
    }
  }
  return {{k, v}, {}};
}

Results latent_assemble_backward(const Call& call) {
  const Array& dk = call.gradient(0);
  const Array& dv = call.gradient(1);
  Array k_and_v = call.zeros(call.op().inputs[0]);
  Array rotary = call.zeros(call.op().inputs[1]);
  const std::int64_t heads = dk.dims[1];
  const std::int64_t own = dk.dims[2] - rotary.width();
  const std::int64_t both = own + dv.dims[2];
  for (std::int64_t row = 0; row < dk.rows(); ++row) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const double* key = dk.row(row) + h * dk.dims[2];
      const double* value = dv.row(row) + h * dv.dims[2];
      std::copy(key, key + own, k_and_v.row(row) + h * both);
      std::copy(value, value + dv.dims[2], k_and_v.row(row) + h * both + own);
      for (std::int64_t i = 0; i < rotary.width(); ++i) rotary.row(row)[i] += key[own + i];
    }
  }
  return {{k_and_v, rotary}, {}};
}

}  // namespace fourhold::interpreter

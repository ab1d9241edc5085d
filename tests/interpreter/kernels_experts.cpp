// Routing by data: top-k of the softmax over experts, rows copied in the order of their experts,
// moved to the ranks that own them, and back.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/interpreter/fault.h"
#include "tests/interpreter/kernels.h"
#include "tests/interpreter/parameters.h"

namespace fourhold::interpreter {
namespace {

struct Choice {
  std::int64_t token = 0;
  std::int64_t expert = 0;
};

// The permuted rows: by expert, then by token.
std::vector<Choice> permuted_order(const Array& indices) {
  std::vector<Choice> order;
  for (std::int64_t token = 0; token < indices.rows(); ++token) {
    for (std::int64_t i = 0; i < indices.width(); ++i) {
      order.push_back({token, static_cast<std::int64_t>(indices.row(token)[i])});
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Choice& a, const Choice& b) { return a.expert < b.expert; });
  return order;
}

std::vector<RoutedRow> labels_of(const Call& call, const std::vector<Choice>& order) {
  const Group ep = plan::group_of(call.setting.plan, plan::Axis::ep, call.rank, 1);
  std::vector<RoutedRow> labels;
  for (const Choice& choice : order) {
    labels.push_back({.expert = choice.expert,
                      .ep = place_in(ep, call.rank),
                      .tp = call.setting.plan.sp ? call.at().tp : 0,
                      .row = static_cast<std::int64_t>(labels.size())});
  }
  return labels;
}

Array with_rows(const Call& call, model::TensorId id, const std::vector<RoutedRow>& labels) {
  Array rows = call.zeros(id, static_cast<std::int64_t>(labels.size()));
  rows.routed = labels;
  return rows;
}

// Moves each row to the member that `to` names, in the order of senders.
template <class To>
Array moved(const Call& call, const Array& rows, const To& to) {
  Payload parcels;
  for (std::size_t member = 0; member < call.group().size(); ++member) {
    std::vector<std::int64_t> picked;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      if (to(rows.routed[static_cast<std::size_t>(i)]) == static_cast<std::int64_t>(member)) {
        picked.push_back(i);
      }
    }
    parcels.push_back(picked_rows(rows, picked));
  }
  const std::vector<Payload>& all = call.meet(std::move(parcels));
  std::vector<const Array*> parts;
  for (const Payload& payload : all) {
    parts.push_back(&payload[static_cast<std::size_t>(call.place_in_group())]);
  }
  return concatenated(parts);
}

Array to_owners(const Call& call, const Array& rows) {
  const std::int64_t experts = call.layer_kind().feed_forward.experts;
  const std::int64_t own = experts / static_cast<std::int64_t>(call.group().size());
  return moved(call, rows, [own](const RoutedRow& row) { return row.expert / own; });
}

// Back to the senders, in the order they had.
Array to_senders(const Call& call, const Array& rows) {
  const Array back = moved(call, rows, [](const RoutedRow& row) { return row.ep; });
  std::vector<std::int64_t> order(static_cast<std::size_t>(back.rows()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return back.routed[static_cast<std::size_t>(a)].row <
           back.routed[static_cast<std::size_t>(b)].row;
  });
  return picked_rows(back, order);
}

bool is_return(const Call& call) {
  return call.tensor(call.op().outputs[0]).name == model::TensorName::returned;
}

}  // namespace

Results router_forward(const Call& call) {
  const Array& logits = call.in(0);
  Array probabilities = zeros_like(logits);
  Array indices = call.zeros(call.op().outputs[1]);
  const std::int64_t experts = logits.width();
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    double* p = probabilities.row(row);
    const double most = *std::max_element(logits.row(row), logits.row(row) + experts);
    double sum = 0;
    for (std::int64_t e = 0; e < experts; ++e) sum += p[e] = std::exp(logits.row(row)[e] - most);
    std::vector<double> rank_by;
    for (std::int64_t e = 0; e < experts; ++e) {
      p[e] /= sum;
      rank_by.push_back(p[e]);
      // A correction bias moves the choice, not the weight (DeepSeek-V3, arXiv 2412.19437).
      if (call.has_parameter(0)) rank_by.back() += call.weight(0, experts)[e];
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(experts));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return rank_by[static_cast<std::size_t>(a)] > rank_by[static_cast<std::size_t>(b)];
    });
    for (std::int64_t i = 0; i < indices.width(); ++i) {
      indices.row(row)[i] = static_cast<double>(order[static_cast<std::size_t>(i)]);
    }
  }
  return {{probabilities, indices}, {}};
}

Results router_backward(const Call& call) {
  const Array& probabilities = call.value(call.op().outputs[0]);
  const Array& dp = call.gradient(0);
  Array dlogits = zeros_like(probabilities);
  for (std::int64_t row = 0; row < dp.rows(); ++row) {
    double mean = 0;
    for (std::int64_t e = 0; e < dp.width(); ++e) {
      mean += probabilities.row(row)[e] * dp.row(row)[e];
    }
    for (std::int64_t e = 0; e < dp.width(); ++e) {
      dlogits.row(row)[e] = probabilities.row(row)[e] * (dp.row(row)[e] - mean);
    }
  }
  Results results{{dlogits}, {}};
  results.parameters.resize(static_cast<std::size_t>(call.op().parameters.size()));
  return results;
}

Results permute_forward(const Call& call) {
  const Array& x = call.in(0);
  const Array& probabilities = call.in(2);
  const std::vector<Choice> order = permuted_order(call.in(1));
  const std::vector<RoutedRow> labels = labels_of(call, order);
  Array permuted = with_rows(call, call.op().outputs[0], labels);
  Array weights = with_rows(call, call.op().outputs[1], labels);
  for (std::int64_t row = 0; row < permuted.rows(); ++row) {
    const Choice& choice = order[static_cast<std::size_t>(row)];
    std::copy(x.row(choice.token), x.row(choice.token) + x.width(), permuted.row(row));
    weights.row(row)[0] = probabilities.row(choice.token)[choice.expert];
  }
  return {{permuted, weights}, {}};
}

Results permute_backward(const Call& call) {
  const std::vector<Choice> order = permuted_order(call.in(1));
  const Array& dpermuted = call.gradient(0);
  const Array& dweights = call.gradient(1);
  const std::vector<RoutedRow> labels = labels_of(call, order);
  if (dpermuted.routed != labels || dweights.routed != labels) {
    throw ProgramFault("gradients of rows came back in another order");
  }
  Array dx = call.zeros(call.op().inputs[0]);
  Array dprobabilities = call.zeros(call.op().inputs[2]);
  for (std::int64_t row = 0; row < dpermuted.rows(); ++row) {
    const Choice& choice = order[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < dx.width(); ++i) {
      dx.row(choice.token)[i] += dpermuted.row(row)[i];
    }
    dprobabilities.row(choice.token)[choice.expert] += dweights.row(row)[0];
  }
  return {{dx, Array{}, dprobabilities}, {}};
}

Results unpermute_forward(const Call& call) {
  const Array& rows = call.in(0);
  const std::vector<Choice> order = permuted_order(call.in(1));
  if (rows.routed != labels_of(call, order)) throw ProgramFault("rows came back in another order");
  Array combined = call.zeros(call.op().outputs[0]);
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const double weight = call.op().inputs.size() > 2 ? call.in(2).row(row)[0] : 1;
    for (std::int64_t i = 0; i < rows.width(); ++i) {
      combined.row(order[static_cast<std::size_t>(row)].token)[i] += weight * rows.row(row)[i];
    }
  }
  return {{combined}, {}};
}

Results unpermute_backward(const Call& call) {
  const std::vector<Choice> order = permuted_order(call.in(1));
  const std::vector<RoutedRow> labels = labels_of(call, order);
  const Array& dy = call.gradient(0);
  const bool weighted = call.op().inputs.size() > 2;
  Array drows = with_rows(call, call.op().inputs[0], labels);
  Array dweights = weighted ? zeros_like(call.in(2)) : Array{};
  for (std::int64_t row = 0; row < drows.rows(); ++row) {
    const std::int64_t token = order[static_cast<std::size_t>(row)].token;
    const double weight = weighted ? call.in(2).row(row)[0] : 1;
    for (std::int64_t i = 0; i < dy.width(); ++i) {
      drows.row(row)[i] = weight * dy.row(token)[i];
      if (weighted) dweights.row(row)[0] += dy.row(token)[i] * call.in(0).row(row)[i];
    }
  }
  return {{drows, Array{}, dweights}, {}};
}

Results exchange_forward(const Call& call) {
  const Array& rows = call.in(0);
  return {{is_return(call) ? to_senders(call, rows) : to_owners(call, rows)}, {}};
}

Results exchange_backward(const Call& call) {
  const Array& rows = call.gradient(0);
  return {{is_return(call) ? to_owners(call, rows) : to_senders(call, rows)}, {}};
}

}  // namespace fourhold::interpreter

// Borders between the stream and a branch: the collective decides, in both directions.
#include "tests/interpreter/fault.h"
#include "tests/interpreter/kernels.h"

namespace fourhold::interpreter {
namespace {

Array sum_of(const std::vector<Payload>& all) {
  Array total = all.front()[0];
  for (std::size_t i = 1; i < all.size(); ++i) add_to(total, all[i][0]);
  return total;
}

// This rank's rows: the tokens' share, or the routed rows it had sent.
Array own_rows(const Call& call, const Array& whole) {
  const std::int64_t place = call.place_in_group();
  if (whole.routed.empty()) {
    const std::int64_t share = whole.rows() / static_cast<std::int64_t>(call.group().size());
    return rows_of(whole, place * share, share);
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < whole.rows(); ++i) {
    if (whole.routed[static_cast<std::size_t>(i)].tp == place) rows.push_back(i);
  }
  return picked_rows(whole, rows);
}

Array across(const Call& call, const Array& x, model::TensorId id) {
  const bool moves = call.step.collective.kind != plan::Collective::copy;
  // Rows of routed tokens depend on the data: their payload is a plan.
  if (moves && x.routed.empty()) call.check_payload(x.size(), call.tensor(id).dtype);
  switch (call.step.collective.kind) {
    case plan::Collective::none:
    case plan::Collective::copy:
      return x;
    case plan::Collective::all_gather: {
      std::vector<const Array*> parts;
      for (const Payload& payload : call.meet({x})) parts.push_back(&payload[0]);
      return concatenated(parts);
    }
    case plan::Collective::reduce_scatter:
      return own_rows(call, sum_of(call.meet({x})));
    case plan::Collective::all_reduce:
      return sum_of(call.meet({x}));
    default:
      throw ProgramFault("a border has no such collective");
  }
}

}  // namespace

Results border_forward(const Call& call) {
  return {{across(call, call.in(0), call.op().inputs[0])}, {}};
}

// The backward of a plain sum is the gradient itself, and the step states no collective.
Results border_backward(const Call& call) {
  return {{across(call, call.gradient(0), call.op().outputs[0])}, {}};
}

}  // namespace fourhold::interpreter

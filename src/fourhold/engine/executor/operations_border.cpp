// Borders between the residual stream and a branch that tensor parallelism splits: what the ranks
// of a tp group put together there. Without tp there are none.
#include <cassert>
#include <cstring>

#include "fourhold/engine/executor/operations.h"
#include "fourhold/engine/kernels/elementwise.h"

namespace fourhold::engine {
namespace {

using plan::Collective;

const Group& group_of(const OperationCall& call, const OperationContext& context) {
  return context.ranks.groups->of(call.collective.axis);
}

// What the ranks make of `from` stands in `to`, which may be the same storage.
void across(const OperationCall& call, const OperationContext& context, const Tensor& from,
            const Tensor& to) {
  const Group& group = group_of(call, context);
  Collectives& ranks = *context.ranks.collectives;
  switch (call.collective.kind) {
    case Collective::all_gather:
      return ranks.all_gather(group, from, to);
    case Collective::reduce_scatter:
      return ranks.reduce_scatter(group, from, to, Sum::replace);
    case Collective::all_reduce:
      if (to.data != from.data) cast(from, to, context.execution);
      return ranks.all_reduce(group, to);
    default:
      if (to.data != from.data) cast(from, to, context.execution);
      return;
  }
}

}  // namespace

void border_forward(const OperationCall& call, const OperationContext& context) {
  across(call, context, call.inputs[0], call.outputs[0]);
}

// Of a plain sum the gradient is the incoming one itself.
void border_backward(const OperationCall& call, const OperationContext& context) {
  const Written& dx = call.input_gradients[0];
  if (!dx.wanted()) return;
  assert((call.collective.kind == Collective::none || dx.destination == Destination::overwrite) &&
         "a branch begins with one operation");
  if (dx.destination == Destination::accumulate) {
    return accumulate(call.output_gradients[0], dx.tensor, context.execution);
  }
  across(call, context, call.output_gradients[0], dx.tensor);
}

}  // namespace fourhold::engine

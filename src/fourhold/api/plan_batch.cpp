#include "fourhold/api/plan_batch.h"

#include "fourhold/base/checked.h"

namespace fourhold::api {

std::int64_t usual_global_batch(const plan::PlanRequest& request) {
  constexpr std::int64_t kSequencesPerDevice = 8;
  const std::int64_t least =
      checked_multiply(checked_multiply(request.micro_batch.value_or(1), request.dp.value_or(1)),
                       request.grad_accum.value_or(1));
  if (request.micro_batch && request.grad_accum && request.dp) return least;
  return checked_multiply(ceil_divide(kSequencesPerDevice * *request.count, least), least);
}

}  // namespace fourhold::api

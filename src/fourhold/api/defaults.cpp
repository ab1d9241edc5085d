#include "fourhold/api/defaults.h"

#include <algorithm>

#include "fourhold/base/checked.h"

namespace fourhold::api {
namespace {

// Of `unit` times the powers of two the nearest to `wanted`, as a ratio; of two alike the larger.
std::int64_t nearest_doubling(std::int64_t unit, double wanted) {
  std::int64_t below = unit;
  while (static_cast<double>(below) * 2 <= wanted) below *= 2;
  const bool above_is_nearer =
      static_cast<double>(below) < wanted &&
      wanted * wanted >= 2 * static_cast<double>(below) * static_cast<double>(below);
  return above_is_nearer ? below * 2 : below;
}

// The replicas where every split that is given is made, and none of the others.
std::int64_t most_replicas(const plan::PlanRequest& request) {
  const std::int64_t ranks = checked_multiply(
      checked_multiply(request.tp.value_or(1), request.pp.value_or(1)), request.cp.value_or(1));
  return *request.count % ranks == 0 ? *request.count / ranks : *request.count;
}

}  // namespace

std::int64_t usual_seq(const model::ModelConfig& model) {
  constexpr std::int64_t kMost = 4096;
  return model.max_positions > 0 ? std::min(model.max_positions, kMost) : kMost;
}

std::int64_t usual_sequences(std::int64_t seq) {
  return nearest_doubling(1, static_cast<double>(kUsualBatchTokens) / static_cast<double>(seq));
}

std::int64_t usual_global_batch(const plan::PlanRequest& request) {
  const std::int64_t given =
      checked_multiply(checked_multiply(request.micro_batch.value_or(1), request.dp.value_or(1)),
                       request.grad_accum.value_or(1));
  if (request.micro_batch && request.grad_accum && request.dp) return given;
  std::int64_t unit = given;
  if (!request.dp) {
    std::int64_t odd = most_replicas(request);
    while (odd % 2 == 0) odd /= 2;
    unit = checked_multiply(given, odd);
  }
  return nearest_doubling(unit, static_cast<double>(usual_sequences(*request.seq)));
}

}  // namespace fourhold::api

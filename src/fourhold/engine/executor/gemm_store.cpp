#include "fourhold/engine/executor/gemm_store.h"

#include <string_view>
#include <utility>

namespace fourhold::engine {
namespace {

bool same(const GemmProblem& a, const GemmProblem& b) {
  return a.form == b.form && a.sizes.m == b.sizes.m && a.sizes.n == b.sizes.n &&
         a.sizes.k == b.sizes.k && a.operands == b.operands && a.output == b.output &&
         a.destination == b.destination && a.bias == b.bias && a.residual == b.residual &&
         a.threads == b.threads;
}

std::string_view text_of(plan::GemmForm form) {
  switch (form) {
    case plan::GemmForm::forward:
      return "forward";
    case plan::GemmForm::backward_data:
      return "backward-data";
    case plan::GemmForm::backward_weight:
      break;
  }
  return "backward-weight";
}

}  // namespace

PreparedGemm GemmStore::of(const GemmProblem& problem) {
  for (const std::unique_ptr<Stored>& stored : stored_) {
    if (same(stored->problem, problem)) {
      return {stored->choice.gemm.get(), problem.scratch_bytes(isa_)};
    }
  }
  stored_.push_back(std::make_unique<Stored>(Stored{problem, choose_gemm(problem, isa_)}));
  return {stored_.back()->choice.gemm.get(), problem.scratch_bytes(isa_)};
}

std::vector<std::string> GemmStore::choices() const {
  std::vector<std::string> lines;
  for (const std::unique_ptr<Stored>& stored : stored_) {
    const GemmProblem& problem = stored->problem;
    std::string line(text_of(problem.form));
    line += " " + std::to_string(problem.sizes.m) + " x " + std::to_string(problem.sizes.n) +
            " x " + std::to_string(problem.sizes.k) + ", " +
            std::string(to_string(problem.operands)) + ": " + std::string(stored->choice.name);
    for (const GemmRefusal& refusal : stored->choice.refused) {
      line += "; not " + std::string(refusal.name) + ": " + refusal.reason;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace fourhold::engine

#include "fourhold/engine/executor/gemm_store.h"

namespace fourhold::engine {

PreparedGemm GemmStore::of(const GemmProblem& problem) {
  for (const std::unique_ptr<Stored>& stored : stored_) {
    if (stored->problem == problem) {
      return {stored->choice.gemm.get(), problem.scratch_bytes(isa_), problem.flops()};
    }
  }
  stored_.push_back(std::make_unique<Stored>(Stored{problem, choose_gemm(problem, isa_)}));
  return {stored_.back()->choice.gemm.get(), problem.scratch_bytes(isa_), problem.flops()};
}

std::vector<std::string> GemmStore::choices() const {
  std::vector<std::string> lines;
  for (const std::unique_ptr<Stored>& stored : stored_) {
    lines.push_back(describe(stored->problem, stored->choice));
  }
  return lines;
}

}  // namespace fourhold::engine

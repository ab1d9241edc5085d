#include "fourhold/engine/executor/gemm_store.h"

namespace fourhold::engine {

PreparedGemm GemmStore::of(const GemmProblem& problem) {
  for (const std::unique_ptr<Stored>& stored : stored_) {
    if (stored->problem == problem) return stored->prepared(isa_);
  }
  stored_.push_back(std::make_unique<Stored>(Stored{problem, choose_gemm(problem, isa_)}));
  return stored_.back()->prepared(isa_);
}

std::vector<std::string> GemmStore::choices() const {
  std::vector<std::string> lines;
  for (const std::unique_ptr<Stored>& stored : stored_) {
    lines.push_back(describe(stored->problem, stored->choice));
  }
  return lines;
}

ProductCount GemmStore::products_run(GemmForm form) const {
  ProductCount count;
  for (const std::unique_ptr<Stored>& stored : stored_) {
    if (stored->problem.form != form) continue;
    count.calls += stored->runs;
    count.flops += static_cast<double>(stored->runs) * stored->problem.flops();
  }
  return count;
}

}  // namespace fourhold::engine

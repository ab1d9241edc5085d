// The matrix products of a run: each kind is prepared once, before the first step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fourhold/engine/executor/operation_call.h"
#include "fourhold/engine/kernels/gemm.h"
#include "fourhold/engine/kernels/gemm_candidates.h"

namespace fourhold::engine {

// Products with weights that were run.
struct ProductCount {
  std::int64_t calls = 0;
  double flops = 0;
};

class GemmStore {
 public:
  explicit GemmStore(Isa isa) : isa_(isa) {}

  // The product for a problem; the same one for an equal problem. Valid as long as the store.
  PreparedGemm of(const GemmProblem& problem);
  // One line for each (describe, gemm_candidates.h).
  [[nodiscard]] std::vector<std::string> choices() const;
  // Of one form, since the store was made.
  [[nodiscard]] ProductCount products_run(GemmForm form) const;

 private:
  struct Stored {
    GemmProblem problem;
    GemmChoice choice;
    std::int64_t runs = 0;

    [[nodiscard]] PreparedGemm prepared(Isa isa) {
      return {choice.gemm.get(), problem.scratch_bytes(isa), problem.flops(), &runs};
    }
  };
  Isa isa_;
  std::vector<std::unique_ptr<Stored>> stored_;
};

}  // namespace fourhold::engine

// Whether a run fits the memory that it may use, asked before anything is allocated.
#pragma once

#include <optional>

#include "fourhold/api/plan_choice.h"
#include "fourhold/api/run.h"
#include "fourhold/api/train.h"
#include "fourhold/base/units.h"

namespace fourhold::engine_app {

// What the process may hold beside its arena; printed, and part of --memory.
inline constexpr Bytes kOutsideAllowance{std::int64_t{300} << 20};

// What a process may use: --memory where that is given and less than what is there.
struct MemoryLimit {
  Bytes bytes;
  bool is_asked = false;  // by --memory; else what the machine can still give

  [[nodiscard]] const char* where() const { return is_asked ? "--memory" : "memory"; }
};
[[nodiscard]] MemoryLimit memory_limit(std::optional<Bytes> asked, Bytes available);

// Throws Error for a limit that the allowance alone fills: no change to the run would help.
void require_allowance(const MemoryLimit& limit, Bytes predicted);

// Throws Error with the planner's verdict and answers in its hint where a rank's arena does not
// fit.
void require_memory(const api::LoadedRun& run, const api::PlannedRun& planned,
                    const MemoryLimit& limit);

}  // namespace fourhold::engine_app

#include "fourhold/engine/kernels/process_isa.h"

#include "fourhold/engine/kernels/dispatch.h"

namespace fourhold::engine {

void limit_process_to(Isa isa) {
  hwy::DisableTargets(isa < best_isa() ? ~highway_targets(isa) : 0);
}

}  // namespace fourhold::engine

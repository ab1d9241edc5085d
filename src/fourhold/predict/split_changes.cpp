#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/validate.h"
#include "fourhold/predict/changes.h"

namespace fourhold::predict {

using plan::Plan;

void split_tensors(Trials& trials) {
  Trials::Kind kind(trials);
  const plan::TensorDegrees degrees = plan::tensor_degrees(trials.config);
  for (const std::int64_t tp : degrees.clean) {
    if (tp <= trials.plan.tp || tp > trials.node()) continue;
    Plan changed = trials.plan;
    changed.tp = tp;
    changed.sp = trials.profile.can("sp") && trials.plan.seq % (tp * trials.plan.cp) == 0;
    if (kind.offer(fmt::format("tensor parallel {} ({} devices)", tp, changed.devices()),
                   changed)) {
      break;
    }
  }
  kind.keep();
}

void split_layers(Trials& trials) {
  Trials::Kind kind(trials);
  for (std::int64_t pp = 2; pp <= std::min<std::int64_t>(trials.config.layer_count(), 64);
       pp *= 2) {
    if (pp <= trials.plan.pp) continue;
    Plan changed = trials.plan;
    changed.pp = pp;
    if (kind.offer(fmt::format("pipeline of {} stages ({} devices)", pp, changed.devices()),
                   changed)) {
      break;
    }
  }
  kind.keep();
}

void split_sequence(Trials& trials) {
  Trials::Kind kind(trials);
  for (std::int64_t cp = 2; cp <= 16; cp *= 2) {
    if (cp <= trials.plan.cp) continue;
    Plan changed = trials.plan;
    changed.cp = cp;
    if (kind.offer(fmt::format("context parallel {} ({} devices)", cp, changed.devices()),
                   changed)) {
      break;
    }
  }
  kind.keep();
}

}  // namespace fourhold::predict

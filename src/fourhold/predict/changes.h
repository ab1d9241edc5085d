// The kinds of changes that may cure a failure. Each keeps its best among the trials' answers, or
// none.
#pragma once

#include <optional>

#include "fourhold/predict/trials.h"

namespace fourhold::predict {

// To a state failure: over the devices there are, then on more of them.
void spread_state(Trials& trials);
// On the devices there are.
void shrink_state(Trials& trials);

// To an activation failure: on the same devices.
void shrink_activations(Trials& trials);
// On more devices.
void split_layers(Trials& trials);
void split_tensors(Trials& trials);
void split_sequence(Trials& trials);

// The first of the changes to an activation failure that need no further device and cure it.
[[nodiscard]] std::optional<Answer> cure_on_the_same_devices(Trials trials);

}  // namespace fourhold::predict

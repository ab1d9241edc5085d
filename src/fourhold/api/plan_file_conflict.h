// Flags that contradict what a plan file states beside them.
#pragma once

#include <string>

#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

struct FlagsOverFile {
  const plan::PlanRequest& flags;
  const plan::PlanRequest& file;
  std::string path;   // of the file
  std::string model;  // that stands before it on the command line; "" where none does
};

// A whole plan states also what follows from its other fields: replicas from the devices,
// accumulation steps from the batch, layers per stage from the stages. Error for a flag that leaves
// such a field of the file contradicting the others, with the command that lets it follow. What
// flags or the file contradict among themselves is left to plan::complete().
void refuse_conflict(const FlagsOverFile& given);

}  // namespace fourhold::api

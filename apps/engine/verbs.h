// The verbs that the engine's program answers.
#pragma once

#include "fourhold/api/arguments.h"
#include "fourhold/api/verbs.h"
#include "fourhold/base/error.h"
#include "fourhold/report/screen.h"

namespace fourhold::engine_app {

struct Question {
  const api::Arguments& arguments;
  api::Form form = api::Form::text;
  const report::Screen& screen;
};

// Each prints its answer and returns the exit code.
ExitCode train(const Question& question);
ExitCode launch(const Question& question);
ExitCode sample(const Question& question);
ExitCode tokenize(const Question& question);
ExitCode stall(const Question& question);
ExitCode measure(const Question& question);

}  // namespace fourhold::engine_app

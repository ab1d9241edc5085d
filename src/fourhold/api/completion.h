// `fourhold completion`: scripts for bash, zsh and fish, from the table of verbs.
#pragma once

#include <string>

#include "fourhold/api/option.h"
#include "fourhold/base/json.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct CompletionRequest {
  std::string shell;
};

template <class Visitor>
void visit_options(Visitor&& visit, CompletionRequest& request) {
  visit(Option{{"shell", "bash, zsh or fish"}, OptionGroup::operand, ValueKind::choice},
        request.shell);
}

struct CompletionResult {
  std::string shell;
  std::string script;
};

// Error for another shell.
[[nodiscard]] CompletionResult completion(const CompletionRequest& request);

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

[[nodiscard]] json::Value to_json(const CompletionResult& result);
[[nodiscard]] std::string to_text(const CompletionResult& result, const report::Screen& screen);

}  // namespace fourhold::api

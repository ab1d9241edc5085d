// The one exception that bad input raises: where it happened, what is wrong, what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace fourhold {

// The process exit codes (fixed by the command-line contract).
enum class ExitCode : int { done = 0, answer_is_no = 1, bad_input = 2, internal_error = 3 };

// Raised for anything a user can cause. `where` names the place (file, field, flag), `what` the
// fault, `hint` the nearest valid value and the next step. Broken invariants use assertions
// instead.
class Error : public std::runtime_error {
 public:
  Error(std::string where, const std::string& what, std::string hint = {},
        ExitCode exit_code = ExitCode::bad_input)
      : std::runtime_error(what),
        where_(std::move(where)),
        hint_(std::move(hint)),
        exit_code_(exit_code) {}

  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }
  [[nodiscard]] ExitCode exit_code() const noexcept { return exit_code_; }

  // The same fault seen from further out: "config.json" + "num_attention_heads".
  [[nodiscard]] Error inside(const std::string& outer) const {
    if (outer.empty()) return *this;
    return {where_.empty() ? outer : outer + ": " + where_, what(), hint_, exit_code_};
  }

 private:
  std::string where_;
  std::string hint_;
  ExitCode exit_code_;
};

}  // namespace fourhold

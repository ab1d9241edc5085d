// Runs what must be refused and gives the Error, so that a test can read its words.
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::api {

struct Refusal {
  std::string where;
  std::string what;
  std::string hint;
};

inline Refusal refusal_of(const std::function<void()>& asked) {
  try {
    asked();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    return {error.where(), error.what(), error.hint()};
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace fourhold::api

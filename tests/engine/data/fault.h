// What an Error says, for tests of refusals.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::engine::data {

struct Fault {
  std::string where;
  std::string what;
  std::string hint;
};

// Calls body, which must throw an Error of bad input with a next step.
template <typename Body>
Fault fault_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    EXPECT_FALSE(error.where().empty()) << error.what();
    EXPECT_FALSE(error.hint().empty()) << error.what();
    return {error.where(), error.what(), error.hint()};
  }
  ADD_FAILURE() << "accepted";
  return {};
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace fourhold::engine::data

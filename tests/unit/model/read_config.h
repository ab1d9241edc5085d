// Reading configs that stand in the tests themselves.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/parameters.h"

namespace fourhold::model {

inline ModelConfig read_config(std::string_view text) {
  return read_hf_config(text, "config.json");
}
inline std::int64_t total(const ModelConfig& config) { return count_parameters(config).total; }
inline std::int64_t total(std::string_view text) { return total(read_config(text)); }

// All extras together: what a published total holds beside the language model.
inline std::int64_t extra_elements(const ModelConfig& config) {
  std::int64_t elements = 0;
  for (const Extra& extra : config.extras) elements += extra.elements;
  return elements;
}

inline bool has_note(const ModelConfig& config, std::string_view part) {
  for (const std::string& note : config.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

// The refusal of a config; fails the test when it is accepted.
inline Error refused_config(std::string_view text) {
  try {
    static_cast<void>(read_config(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.where().rfind("config.json", 0), 0U) << error.where();
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    EXPECT_FALSE(error.hint().empty()) << error.what();
    return error;
  }
  ADD_FAILURE() << "accepted: " << text;
  return Error("", "");
}

}  // namespace fourhold::model

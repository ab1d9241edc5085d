// Any bytes as a file of own runs, as residuals and as an observation: refused with an Error, or
// read to the same again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/confidence/observation.h"
#include "fourhold/confidence/own_runs.h"
#include "fourhold/confidence/residual_table.h"

namespace {

namespace confidence = fourhold::confidence;

// What was read, written; "" where it was refused as bad input.
template <class Read>
std::string rewritten(Read&& read) {
  try {
    return fourhold::json::write(to_json(read()));
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
    return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string runs = rewritten([&] { return confidence::parse_own_runs(text, "fuzz"); });
  // What was accepted must be accepted again: an Error from here on is a finding.
  if (!runs.empty() &&
      fourhold::json::write(to_json(confidence::parse_own_runs(runs, "written"))) != runs) {
    std::abort();
  }
  const std::string table = rewritten([&] { return confidence::parse_residuals(text, "fuzz"); });
  if (!table.empty() &&
      fourhold::json::write(to_json(confidence::parse_residuals(table, "written"))) != table) {
    std::abort();
  }
  try {
    const confidence::Observation seen = confidence::parse_observation(text, "fuzz");
    if (seen.step_seconds && *seen.step_seconds <= 0) std::abort();
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
  return 0;
}

// Reads any bytes as a profile file; what was read survives writing and reading again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/plan/profile_file.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fourhold;  // NOLINT(google-build-using-namespace): a program of its own
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const plan::Profile profile = plan::parse_profile(text, "profile.json");
    const json::Value written = plan::profile_json(profile);
    const json::Value again =
        plan::profile_json(plan::parse_profile(json::write(written), "written"));
    if (!(again == written)) std::abort();
  } catch (const Error& error) {
    if (error.where().empty()) std::abort();
  }
  return 0;
}

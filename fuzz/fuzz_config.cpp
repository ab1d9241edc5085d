// config.json text from anywhere: it is read, or refused with an Error. Anything else is a finding.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/parameters.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const fourhold::model::ModelConfig config =
        fourhold::model::read_hf_config(text, "config.json");
    // What was accepted must also be countable.
    if (fourhold::model::count_parameters(config).total <= 0) __builtin_trap();
  } catch (const fourhold::Error& refusal) {
    if (refusal.where().empty()) __builtin_trap();  // every refusal names its place
  }
  return 0;
}

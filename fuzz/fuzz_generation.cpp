// Any bytes as a generation_config.json: refused with an Error, or ids of the vocabulary.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/engine/sample/generation_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::int64_t kVocabulary = 300;
  try {
    const fourhold::engine::GenerationConfig config = fourhold::engine::parse_generation_config(
        {reinterpret_cast<const char*>(bytes), size}, kVocabulary, "fuzz");
    if (!config.stop_tokens) return 0;
    for (const auto id : *config.stop_tokens) {
      if (id < 0 || id >= kVocabulary) std::abort();
    }
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
  return 0;
}

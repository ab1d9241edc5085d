// Any bytes as a line of prompts and answers: refused with an Error, or an answer to learn.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/engine/data/example.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  namespace data = fourhold::engine::data;
  try {
    const data::Example example =
        data::parse_example({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    if (example.answer.empty()) std::abort();
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
  return 0;
}

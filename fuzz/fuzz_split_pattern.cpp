// A pattern in the first line and a text after it: refused with an Error, or matches that move on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/base/utf8.h"
#include "fourhold/engine/data/split_pattern.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  namespace data = fourhold::engine::data;
  constexpr std::size_t kMostPattern = 256;
  constexpr std::size_t kMostText = 256;
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::size_t end = std::min({input.find('\n'), input.size(), kMostPattern});
  const std::string text =
      fourhold::valid_utf8(input.substr(std::min(end + 1, input.size()), kMostText));
  try {
    const auto pattern = data::SplitPattern::of_oniguruma(input.substr(0, end), "fuzz");
    std::size_t reached = 0;
    while (const auto match = pattern.find(text, reached)) {
      if (match->begin < reached || match->end <= match->begin || match->end > text.size()) {
        std::abort();
      }
      reached = match->end;
    }
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
  return 0;
}

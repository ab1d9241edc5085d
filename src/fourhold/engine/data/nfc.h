// Unicode's composed normal form (UAX #15), which some tokenizers ask for before anything else.
#pragma once

#include <string>
#include <string_view>

namespace fourhold::engine::data {

// NFC of valid UTF-8.
[[nodiscard]] std::string nfc(std::string_view text);

}  // namespace fourhold::engine::data

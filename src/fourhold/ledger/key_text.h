// Keys read from text: the inverse of to_string(Key).
//
// The grammar is  block [ "." layer ] "." name [ "." variant ] [ "." role ] [ "@mb" micro_batch ]
// with block and name a letter followed by letters, digits, '_' and '-', and variant the same
// without the rule for its first character. A role "value" is left out, except behind a variant
// that would otherwise read as a role.
#pragma once

#include <string_view>

#include "fourhold/ledger/key.h"

namespace fourhold::ledger {

// The key; its texts are views of `text`. Error (without a place) when `text` is not exactly what
// to_string would write.
[[nodiscard]] Key parse_key(std::string_view text);

}  // namespace fourhold::ledger

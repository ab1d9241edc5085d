// The regular expressions of a tokenizer.json are Oniguruma's, in Ruby's syntax; ours are PCRE2's.
#pragma once

#include <string>
#include <string_view>

namespace fourhold::engine::data {

// The same pattern for PCRE2 with UTF and UCP. What the two read differently is rewritten (\s is
// White_Space here and something wider there; a script is its script, not its extensions), and what
// is not known to mean the same in both is refused: Error with `where`, the offset in the pattern
// and the construct.
[[nodiscard]] std::string pcre2_of_oniguruma(std::string_view pattern, const std::string& where);

}  // namespace fourhold::engine::data

// Counts and sizes as people write them ("2e12", "1.5T", "24GiB", "80GB"), and back to text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/base/range.h"
#include "fourhold/base/units.h"

namespace fourhold {

// A count: digits, an optional fraction, an optional exponent, an optional K, M, B or G, T (powers
// of 1000). Exact: "1.5M" is 1,500,000 and "1.5" is an Error. `where` names the flag or field in
// Errors, which also refuse junk, negative values and what leaves int64; their hints keep to
// `range`, which the value itself is not held to.
[[nodiscard]] std::int64_t parse_count(std::string_view text, const std::string& where,
                                       IntegerRange range = {});

// No device, host or buffer is near 1 PiB; up to it, sums of sizes stay in 64 bits.
inline constexpr Bytes kMostBytes{std::int64_t{1} << 50};

// A size: as above with KiB, MiB, GiB, TiB, PiB, EiB (powers of 1024), kB, MB, GB, TB, PB, EB
// (powers of 1000), B or nothing, in any case. A fraction of a byte is dropped: "23.6GiB" has one.
// "24G" is an Error, because it may mean either, and so is what is above kMostBytes.
[[nodiscard]] Bytes parse_bytes(std::string_view text, const std::string& where);

// "12.55 GiB", "512 B": the largest power of 1024 that keeps the number at 1 or above, rounded to
// two decimals, half away from zero.
[[nodiscard]] std::string format_bytes(Bytes bytes);

// "1 stage", "2 stages", "0 stages": nouns whose plural ends in s.
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

// "8,030,261,248".
[[nodiscard]] std::string format_count(std::int64_t count);

}  // namespace fourhold

#include "fourhold/base/quantity.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/ascii.h"
#include "fourhold/base/error.h"

namespace fourhold {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kMaxDigits = 19;  // a mantissa of 19 digits times 2^60 stays below 2^128
constexpr std::int64_t kMaxCount = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kCountExamples = "write for example 4096, 2e12, 7B or 1.5T";
constexpr std::string_view kSizeExamples =
    "write for example 24GiB (2^30 bytes each) or 80GB (10^9 bytes each)";

struct Unit {
  std::string_view name;  // lower case
  std::int64_t factor;
};

constexpr std::array<Unit, 6> kCountUnits{{{"", 1},
                                           {"k", 1'000},
                                           {"m", 1'000'000},
                                           {"b", 1'000'000'000},
                                           {"g", 1'000'000'000},
                                           {"t", 1'000'000'000'000}}};
constexpr std::array<Unit, 14> kByteUnits{{{"", 1},
                                           {"b", 1},
                                           {"kb", 1'000},
                                           {"mb", 1'000'000},
                                           {"gb", 1'000'000'000},
                                           {"tb", 1'000'000'000'000},
                                           {"pb", 1'000'000'000'000'000},
                                           {"eb", 1'000'000'000'000'000'000},
                                           {"kib", 1LL << 10},
                                           {"mib", 1LL << 20},
                                           {"gib", 1LL << 30},
                                           {"tib", 1LL << 40},
                                           {"pib", 1LL << 50},
                                           {"eib", 1LL << 60}}};

// digits * 10^exponent, followed by a unit.
struct Number {
  Wide digits = 0;
  int exponent = 0;
  std::string unit;  // lower case
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& where, std::string hint)
      : text_(text), where_(where), hint_(std::move(hint)) {}

  [[nodiscard]] Number read() {
    if (text_.empty()) fail("is empty");
    if (text_[0] == '-') fail("must not be negative");
    Number number;
    read_digits(number, 0);
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      read_digits(number, -1);
    }
    if (!any_digit_) fail("is not a number");
    read_exponent(number);
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    number.unit = lowered(text_.substr(at_));
    return number;
  }

  [[noreturn]] void fail(std::string_view fault) const {
    throw Error(where_, fmt::format("'{:.40}' {}", text_, fault), hint_);
  }

 private:
  // `step` is what each digit adds to the exponent: -1 behind the point. Trailing zeros of a
  // fraction are skipped, so that only digits that matter count towards the limit.
  void read_digits(Number& number, int step) {
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    any_digit_ = any_digit_ || end > at_;
    std::size_t last = end;
    if (step != 0) {
      while (last > at_ && text_[last - 1] == '0') --last;
    }
    for (; at_ < last; ++at_) {
      number.digits = number.digits * 10 + static_cast<Wide>(text_[at_] - '0');
      number.exponent += step;
      if (number.digits > 0 && ++significant_ > kMaxDigits) fail("has too many digits");
    }
    at_ = end;
  }

  void read_exponent(Number& number) {
    if (at_ >= text_.size() || (text_[at_] != 'e' && text_[at_] != 'E')) return;
    if (is_unit_of_exa(at_)) return;
    ++at_;
    bool negative = false;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
      negative = text_[at_++] == '-';
    }
    if (at_ >= text_.size() || !is_digit(text_[at_])) fail("has no digits in its exponent");
    int exponent = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      exponent = std::min(exponent * 10 + (text_[at_] - '0'), 1000);
    }
    number.exponent += negative ? -exponent : exponent;
  }

  // "EiB" and "EB" begin like an exponent.
  [[nodiscard]] bool is_unit_of_exa(std::size_t at) const {
    constexpr std::string_view kSecond = "iIbB";
    return at + 1 < text_.size() && kSecond.find(text_[at + 1]) != std::string_view::npos;
  }

  std::string_view text_;
  const std::string& where_;
  std::string hint_;
  std::size_t at_ = 0;
  int significant_ = 0;
  bool any_digit_ = false;
};

enum class Fraction { refused, dropped };

struct Limit {
  std::int64_t most = kMaxCount;
  std::string text;
};

std::int64_t value_of(const Number& number, std::int64_t factor, Fraction fraction,
                      const Limit& limit, const Reader& reader) {
  Wide value = number.digits * static_cast<Wide>(factor);
  if (value == 0) return 0;
  for (int i = 0; i < number.exponent; ++i) {
    if (value > static_cast<Wide>(kMaxCount)) break;
    value *= 10;
  }
  bool whole = true;
  for (int i = 0; i > number.exponent && value > 0; --i) {
    whole = whole && value % 10 == 0;
    value /= 10;
  }
  if (value > static_cast<Wide>(limit.most)) {
    reader.fail("is too large: the limit is " + limit.text);
  }
  if (!whole && fraction == Fraction::refused) reader.fail("is not a whole number");
  return static_cast<std::int64_t>(value);
}

template <std::size_t N>
const Unit* find_unit(const std::array<Unit, N>& units, std::string_view name) {
  const auto found = std::find_if(units.begin(), units.end(),
                                  [name](const Unit& unit) { return unit.name == name; });
  return found == units.end() ? nullptr : &*found;
}

}  // namespace

std::int64_t parse_count(std::string_view text, const std::string& where, IntegerRange range) {
  const bool bounded = range.most < kMaxCount;
  Reader reader(
      text, where,
      bounded ? "write a whole number " + range_text(range) : std::string(kCountExamples));
  const Number number = reader.read();
  const Unit* unit = find_unit(kCountUnits, number.unit);
  if (unit == nullptr) reader.fail("ends in something that is neither a digit nor K, M, B, G, T");
  // What fits 64 bits is for the field's own check.
  const Limit limit{kMaxCount, bounded ? std::to_string(range.most) : "2^63 - 1"};
  return value_of(number, unit->factor, Fraction::refused, limit, reader);
}

Bytes parse_bytes(std::string_view text, const std::string& where) {
  Reader reader(text, where, std::string(kSizeExamples));
  const Number number = reader.read();
  const Unit* unit = find_unit(kByteUnits, number.unit);
  if (unit == nullptr) {
    const bool ambiguous = find_unit(kByteUnits, number.unit + "ib") != nullptr;
    reader.fail(ambiguous ? "may mean powers of 1000 or of 1024" : "has an unknown unit");
  }
  const Limit limit{kMostBytes.count(), format_bytes(kMostBytes)};
  return Bytes(value_of(number, unit->factor, Fraction::dropped, limit, reader));
}

std::string format_bytes(Bytes bytes) {
  constexpr std::array<std::string_view, 7> kNames{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const bool negative = bytes.count() < 0;
  const std::string_view sign = negative ? "-" : "";
  const Wide count =
      negative ? static_cast<Wide>(-(bytes.count() + 1)) + 1 : static_cast<Wide>(bytes.count());
  if (count < 1024) return fmt::format("{}{} B", sign, static_cast<std::uint64_t>(count));
  std::uint64_t hundredths = 0;
  std::size_t power = 0;
  do {
    ++power;
    const Wide unit = Wide{1} << (10 * power);
    hundredths = static_cast<std::uint64_t>((count * 100 + unit / 2) / unit);
  } while (hundredths >= 102'400);
  return fmt::format("{}{}.{:02} {}", sign, hundredths / 100, hundredths % 100, kNames[power]);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

}  // namespace fourhold

// What the place can show that a text is written for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fourhold::report {

enum class Color : std::uint8_t { off, on };
enum class Charset : std::uint8_t { ascii, utf8 };

// A terminal of less than this is written as if it had it: figures must stay whole.
inline constexpr int kLeastColumns = 60;
inline constexpr int kUsualColumns = 80;
inline constexpr int kMostColumns = 120;  // longer lines are hard to read

struct Screen {
  int columns = kUsualColumns;
  Color color = Color::off;
  Charset charset = Charset::utf8;
};

// The few colours in use, by what they mean.
enum class Ink : std::uint8_t {
  plain,
  strong,
  good,
  bad,
  weak,
  weight,
  gradient,
  optimizer,
  activation,
  buffer
};

// The text between the escape codes of that ink, or as it is where the screen has no colour.
[[nodiscard]] std::string painted(std::string_view text, Ink ink, const Screen& screen);

}  // namespace fourhold::report

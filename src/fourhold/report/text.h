// Text measured and laid out in columns of a terminal: one per character, whatever its bytes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace fourhold::report {

// The text without what a terminal would obey: control characters, marks of direction and bytes
// that are not UTF-8 become '?' each, so that a name out of a foreign file cannot move the cursor.
[[nodiscard]] std::string printable(std::string_view text);

// Columns the (printable) text takes.
[[nodiscard]] int columns_of(std::string_view text);

// The text padded with blanks to at least `columns`.
[[nodiscard]] std::string padded_right(std::string_view text, int columns);
[[nodiscard]] std::string padded_left(std::string_view text, int columns);

// At most `columns`, cut in the middle where it is longer: names differ at both ends.
[[nodiscard]] std::string shortened(std::string_view text, int columns);

// Lines of at most `columns` >= 1, broken at blanks; a longer word is broken behind one of its
// marks
// ("._/-,:="), so that names and paths stay whole. At least one line.
[[nodiscard]] std::vector<std::string> wrapped_lines(std::string_view text, int columns);

// The same as one text, each line ended by a line break: the first behind `first`, the others
// behind as many blanks.
[[nodiscard]] std::string wrapped(std::string_view text, int columns, std::string_view first = {});

// The first candidate that takes at most `columns` (more than 2); else the last one on several
// lines, of which the others are indented: a figure that was cut would be another figure.
[[nodiscard]] std::string first_that_fits(std::initializer_list<std::string> candidates,
                                          int columns);

}  // namespace fourhold::report

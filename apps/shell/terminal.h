// What standard output can show, by the terminal and the environment.
#pragma once

#include <optional>

#include "apps/shell/parse.h"
#include "fourhold/report/screen.h"

namespace fourhold::shell {

// Columns of the terminal, or COLUMNS, or 80. Colour by `when`; where that is automatic, only on a
// terminal that is not "dumb", and not where NO_COLOR is set. Bars in ASCII where the locale names
// another character set than UTF-8.
[[nodiscard]] report::Screen screen_of_output(ColorWhen when);

// The columns that notes on standard error are wrapped to: those of its terminal, at least
// report::kLeastColumns; nothing where it is none.
[[nodiscard]] std::optional<int> columns_of_notes();

}  // namespace fourhold::shell

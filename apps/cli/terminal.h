// What standard output can show, by the terminal and the environment.
#pragma once

#include "apps/cli/parse.h"
#include "fourhold/report/screen.h"

namespace fourhold::cli {

// Columns of the terminal, or COLUMNS, or 80. Colour by `when`; where that is automatic, only on a
// terminal that is not "dumb", and not where NO_COLOR is set. Bars in ASCII where the locale names
// another character set than UTF-8.
[[nodiscard]] report::Screen screen_of_output(ColorWhen when);

}  // namespace fourhold::cli

#include "apps/shell/notes.h"

#include <optional>

#include "apps/shell/terminal.h"
#include "fourhold/report/text.h"

namespace fourhold::shell {

std::string labelled(std::string_view label, const std::string& line) {
  const std::optional<int> columns = columns_of_notes();
  return columns ? report::wrapped(line, *columns, label)
                 : std::string(label) + report::printable(line) + "\n";
}

std::string error_text(const Error& error) {
  const std::string where = error.where().empty() ? "" : error.where() + ": ";
  std::string text = labelled("fourhold: ", where + error.what());
  if (!error.hint().empty()) text += labelled("hint: ", error.hint());
  return text;
}

}  // namespace fourhold::shell

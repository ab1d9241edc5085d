// Any bytes as a file of measured rows: refused with an Error that names its place, or rows.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/measured/measured_row.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace measured = fourhold::measured;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    measured::RowReader reader(text, "fuzz");
    for (measured::MeasuredRow row; reader.next(row);) {
      if (row.id.empty()) std::abort();
      if (row.layers && *row.layers < 1) std::abort();
      if (row.step_time_s && !(*row.step_time_s >= 0)) std::abort();
    }
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
    if (error.where().rfind("fuzz:", 0) != 0) std::abort();
  }
  return 0;
}

// Whatever the ledger reader accepts must survive a round trip, a comparison with itself and, when
// it is expanded, a sweep and a placement that passes the check.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/ledger/compare.h"
#include "fourhold/ledger/key_text.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/ledger/placement.h"
#include "fourhold/ledger/timeline.h"

namespace {

using fourhold::Error;
using fourhold::ledger::Ledger;

// Ends the run: assertions may be compiled out.
void require(bool holds) {
  if (!holds) std::abort();
}

bool is_expanded(const Ledger& ledger) {
  for (const auto& entry : ledger.entries) {
    if (entry.copies != 1) return false;
  }
  return true;
}

void read_key(std::string_view text) {
  try {
    require(to_string(fourhold::ledger::parse_key(text)) == text);
  } catch (const Error&) {
  }
}

void place(const Ledger& ledger) {
  const auto timeline = fourhold::ledger::timeline_of(ledger.entries);
  try {
    const auto placement = fourhold::ledger::place(ledger.entries);
    require(placement.reserved_bytes >= timeline.peak_bytes);
    require(!fourhold::ledger::find_fault(ledger.entries, placement).has_value());
  } catch (const Error&) {  // rounding can take sizes near the limit beyond it
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size < 256) read_key(text);
  Ledger ledger;
  try {
    ledger = fourhold::ledger::ledger_from_json(fourhold::json::parse(text, "input"), "input");
  } catch (const Error& error) {
    require(!error.where().empty());
    return 0;
  }
  const auto value = to_json(ledger);
  const Ledger again = fourhold::ledger::ledger_from_json(value, "again");
  require(to_json(again) == value);
  require(fourhold::ledger::compare(ledger, again).is_equal());
  if (is_expanded(ledger)) place(ledger);
  return 0;
}

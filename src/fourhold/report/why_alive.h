// Why an entry of a ledger is held, in one phrase for people.
#pragma once

#include <string_view>

#include "fourhold/ledger/ledger.h"

namespace fourhold::report {

// "weights: used by every forward and backward", by the entry's category, role and place. Entries
// with one phrase belong together when they are listed.
[[nodiscard]] std::string_view why_alive(const ledger::Entry& entry);

}  // namespace fourhold::report

#include "fourhold/ledger/ledger.h"

namespace fourhold::ledger {

CategoryBytes Ledger::at_peak_by_category() const {
  CategoryBytes bytes{};
  for (const Entry& entry : entries) {
    if (entry.place != Place::device) continue;
    bytes[static_cast<std::size_t>(entry.category)] += entry.bytes * entry.copies_at_peak;
  }
  return bytes;
}

Bytes Ledger::host_bytes() const {
  Bytes bytes;
  for (const Entry& entry : entries) {
    if (entry.place == Place::host) bytes += entry.bytes * entry.copies;
  }
  return bytes;
}

}  // namespace fourhold::ledger

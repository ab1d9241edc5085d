// What is alive when: a sweep over the lifetimes of an expanded ledger.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/base/units.h"
#include "fourhold/ledger/ledger.h"

namespace fourhold::ledger {

// Device bytes alive from `step` until the next change.
struct LiveChange {
  std::int64_t step = 0;
  Bytes live_bytes;
  friend bool operator==(const LiveChange&, const LiveChange&) = default;
};

// The changes in ascending order, so that the size does not depend on how far apart steps are.
struct Timeline {
  std::vector<LiveChange> changes;  // the last one is to 0; empty when nothing is ever alive
  Bytes peak_bytes;
  std::int64_t peak_step = 0;  // the first step that holds peak_bytes

  // Device bytes alive at any step; 0 outside all lifetimes.
  [[nodiscard]] Bytes live_at(std::int64_t step) const;
};

// Error unless every entry stands for one tensor, is alive for at least one step and has no
// negative size: only of such an expanded ledger are steps absolute.
void require_expanded(const std::vector<Entry>& entries);

// The sweep, O(n log n). Error when not expanded, or when the bytes alive leave int64.
[[nodiscard]] Timeline timeline_of(const std::vector<Entry>& entries);

// The same, and books the peak in the ledger: `live_peak_bytes`, and `copies_at_peak` of every
// entry (host and shared entries too, though they do not count towards the peak). The words of
// `peak_step` are left to whoever knows the names of the steps.
Timeline mark_peak(Ledger& ledger);

// Device bytes alive at one step, by category. Error when not expanded.
[[nodiscard]] CategoryBytes live_by_category(const std::vector<Entry>& entries, std::int64_t step);

}  // namespace fourhold::ledger

#include "fourhold/ledger/timeline.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::ledger {
namespace {

struct Event {
  std::int64_t step = 0;
  std::int64_t bytes = 0;  // negative where a lifetime is over
};

bool is_alive(const Entry& entry, std::int64_t step) {
  return entry.first_step <= step && step <= entry.last_step;
}

[[noreturn]] void refuse(const Entry& entry, const std::string& fault, const std::string& hint) {
  throw Error(to_string(entry.key), fault, hint);
}

}  // namespace

void require_expanded(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    if (entry.copies != 1) {
      refuse(entry,
             fmt::format("stands for {} copies, so its steps are not absolute", entry.copies),
             "use the expanded form of the ledger, one entry per tensor");
    }
    if (entry.last_step < entry.first_step ||
        entry.last_step == std::numeric_limits<std::int64_t>::max()) {
      refuse(entry, fmt::format("is alive from step {} to {}", entry.first_step, entry.last_step),
             "the last step must not be before the first");
    }
    if (entry.bytes < Bytes(0)) {
      refuse(entry, fmt::format("has {} bytes", entry.bytes.count()), "use 0 or more");
    }
  }
}

Bytes Timeline::live_at(std::int64_t step) const {
  const auto after =
      std::upper_bound(changes.begin(), changes.end(), step,
                       [](std::int64_t value, const LiveChange& c) { return value < c.step; });
  return after == changes.begin() ? Bytes(0) : (after - 1)->live_bytes;
}

Timeline timeline_of(const std::vector<Entry>& entries) {
  require_expanded(entries);
  std::vector<Event> events;
  events.reserve(2 * entries.size());
  for (const Entry& entry : entries) {
    if (entry.place != Place::device || entry.bytes == Bytes(0)) continue;
    events.push_back({entry.first_step, entry.bytes.count()});
    events.push_back({entry.last_step + 1, -entry.bytes.count()});
  }
  // Within one step the ends come first, so that the sum never exceeds what is really alive.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.step != b.step ? a.step < b.step : a.bytes < b.bytes;
  });

  Timeline timeline;
  Bytes live;
  for (std::size_t i = 0; i < events.size(); ++i) {
    live += Bytes(events[i].bytes);
    if (i + 1 < events.size() && events[i + 1].step == events[i].step) continue;
    const Bytes before = timeline.changes.empty() ? Bytes(0) : timeline.changes.back().live_bytes;
    if (live == before) continue;
    timeline.changes.push_back({events[i].step, live});
    if (live > timeline.peak_bytes) {
      timeline.peak_bytes = live;
      timeline.peak_step = events[i].step;
    }
  }
  return timeline;
}

Timeline mark_peak(Ledger& ledger) {
  Timeline timeline = timeline_of(ledger.entries);
  ledger.live_peak_bytes = timeline.peak_bytes;
  for (Entry& entry : ledger.entries) {
    entry.copies_at_peak = is_alive(entry, timeline.peak_step) ? 1 : 0;
  }
  return timeline;
}

CategoryBytes live_by_category(const std::vector<Entry>& entries, std::int64_t step) {
  require_expanded(entries);
  CategoryBytes bytes{};
  for (const Entry& entry : entries) {
    if (entry.place != Place::device || !is_alive(entry, step)) continue;
    bytes[static_cast<std::size_t>(entry.category)] += entry.bytes;
  }
  return bytes;
}

}  // namespace fourhold::ledger

// The ledger: every tensor a rank holds, with its bytes, its purpose and its lifetime.
//
// It is the shared language of the planner (which predicts it), the engine (which reserves it) and
// the user (who reads it). Only predict/memory makes entries.
//
// Two forms share the type. Compact: one entry stands for `copies` equal tensors (identical layers,
// micro-batches in flight) and steps count within its block. Expanded: one entry per tensor of one
// rank, steps absolute.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/dims.h"
#include "fourhold/base/dtype.h"
#include "fourhold/base/json.h"
#include "fourhold/base/units.h"
#include "fourhold/ledger/category.h"
#include "fourhold/ledger/key.h"

namespace fourhold::ledger {

// Where the bytes lie. `shared` windows are counted once per node.
enum class Place : std::uint8_t { device, host, shared };

[[nodiscard]] constexpr std::string_view to_string(Place place) {
  constexpr std::array<std::string_view, 3> texts{"device", "host", "shared"};
  return texts[static_cast<std::size_t>(place)];
}

struct Entry {
  Key key{};
  Dims shape{};
  DType dtype = DType::fp32;
  Bytes bytes{};                    // of one copy
  std::int64_t copies = 1;          // equal tensors this entry stands for
  std::int64_t copies_at_peak = 0;  // of these, alive at the live peak
  Category category = Category::other;
  Place place = Place::device;
  std::int64_t first_step = 0;  // alive from here ...
  std::int64_t last_step = 0;   // ... to here, both included
};

using CategoryBytes = std::array<Bytes, kCategoryCount>;

// Texts of keys that were read from a file; a deque, so that none moves.
using KeyPool = std::deque<std::string>;

struct Ledger {
  std::vector<Entry> entries;
  Bytes live_peak_bytes;  // most bytes alive at one step, device entries
  Bytes reserved_bytes;   // size of the arena a placement needs; 0 = not placed
  std::string peak_step;  // where the peak is, in words
  // What the keys are views of when they were read; shared, so that copies stay whole without the
  // original. Null when every name is a table's.
  std::shared_ptr<const KeyPool> pool;

  // Device bytes alive at the peak, by category: their sum is live_peak_bytes.
  [[nodiscard]] CategoryBytes at_peak_by_category() const;
  // Host bytes over all entries placed there (they live for the whole run).
  [[nodiscard]] Bytes host_bytes() const;
};

// JSON of schema "fourhold.ledger/1"; reading validates every field and bounds the entry count.
[[nodiscard]] json::Value to_json(const Ledger& ledger);
[[nodiscard]] Ledger ledger_from_json(const json::Value& value, const std::string& where);

}  // namespace fourhold::ledger

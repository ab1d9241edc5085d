// The file format of docs/ledger-format.md, both ways.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/near_match.h"
#include "fourhold/ledger/key_text.h"
#include "fourhold/ledger/ledger.h"

namespace fourhold::ledger {
namespace {

constexpr std::string_view kSchema = "fourhold.ledger/1";
constexpr std::size_t kMaxEntries = 1'000'000;
// Steps are counted from zero; this many and more would make the step behind the last overflow.
constexpr std::int64_t kMaxStep = std::numeric_limits<std::int64_t>::max() - 1;
constexpr int kPlaceCount = 3;

json::Value to_json(const Entry& entry) {
  json::Array shape;
  for (const std::int64_t size : entry.shape) shape.emplace_back(size);
  return json::Object{{"key", to_string(entry.key)},     {"category", to_string(entry.category)},
                      {"place", to_string(entry.place)}, {"shape", std::move(shape)},
                      {"dtype", to_string(entry.dtype)}, {"bytes", entry.bytes.count()},
                      {"copies", entry.copies},          {"copies_at_peak", entry.copies_at_peak},
                      {"first_step", entry.first_step},  {"last_step", entry.last_step}};
}

// The enumerator of that text, for every enum that counts from zero and has a to_string.
template <class Enum, int Count>
Enum required_enum(FieldReader& fields, std::string_view name) {
  const std::string text = fields.required_string(name);
  std::vector<std::string_view> candidates;
  for (int i = 0; i < Count; ++i) {
    const auto value = static_cast<Enum>(i);
    if (to_string(value) == text) return value;
    candidates.push_back(to_string(value));
  }
  std::string hint = did_you_mean(text, candidates);
  if (hint.empty()) hint = fmt::format("use one of: {}", fmt::join(candidates, ", "));
  throw Error(fields.path(name), fmt::format("'{:.60}' is not a {}", text, name), std::move(hint));
}

Dims required_shape(FieldReader& fields) {
  const std::string path = fields.path("shape");
  const auto sizes = fields.integers("shape", {.least = 0});
  if (!sizes.has_value()) throw Error(path, "is missing", "write [] for a single value");
  if (sizes->size() > static_cast<std::size_t>(Dims::kMaxRank)) {
    throw Error(path, fmt::format("has {} dimensions", sizes->size()),
                fmt::format("at most {} are possible: join the outer ones", Dims::kMaxRank));
  }
  Dims shape;
  for (const std::int64_t size : *sizes) shape.push_back(size);
  try {
    static_cast<void>(shape.elements());
  } catch (const Error& fault) {
    throw fault.inside(path);
  }
  return shape;
}

Key required_key(FieldReader& fields, KeyPool& pool) {
  pool.push_back(fields.required_string("key"));
  try {
    return parse_key(pool.back());
  } catch (const Error& fault) {
    throw fault.inside(fields.path("key"));
  }
}

Entry entry_from_json(const json::Value& value, const std::string& path, KeyPool& pool) {
  FieldReader fields(value, path);
  Entry entry;
  entry.key = required_key(fields, pool);
  entry.category = required_enum<Category, kCategoryCount>(fields, "category");
  entry.place = required_enum<Place, kPlaceCount>(fields, "place");
  entry.shape = required_shape(fields);
  entry.dtype = required_enum<DType, kDTypeCount>(fields, "dtype");
  entry.bytes = Bytes(fields.required_integer("bytes", {.least = 0}));
  entry.copies = fields.required_integer("copies", {.least = 1});
  entry.copies_at_peak =
      fields.required_integer("copies_at_peak", {.least = 0, .most = entry.copies});
  entry.first_step = fields.required_integer("first_step", {.least = 0, .most = kMaxStep});
  entry.last_step =
      fields.required_integer("last_step", {.least = entry.first_step, .most = kMaxStep});
  fields.refuse_unread();
  return entry;
}

Ledger read(const json::Value& value) {
  FieldReader fields(value, "");
  const std::string schema = fields.required_string("schema");
  if (schema != kSchema) {
    throw Error("schema", fmt::format("'{:.60}' is not a ledger this version reads", schema),
                fmt::format("it must be '{}'", kSchema));
  }
  Ledger ledger;
  ledger.live_peak_bytes = Bytes(fields.required_integer("live_peak_bytes", {.least = 0}));
  ledger.reserved_bytes = Bytes(fields.required_integer("reserved_bytes", {.least = 0}));
  ledger.peak_step = fields.required_string("peak_step");

  const json::Array* entries = fields.array("entries");
  if (entries == nullptr) throw Error("entries", "is missing", "write [] for an empty ledger");
  if (entries->size() > kMaxEntries) {
    throw Error("entries", fmt::format("holds {} entries", entries->size()),
                fmt::format("at most {} are read: write the compact form", kMaxEntries));
  }
  fields.refuse_unread();
  ledger.entries.reserve(entries->size());
  const auto pool = std::make_shared<KeyPool>();
  ledger.pool = pool;
  Bytes all;  // every later total is at most this, so none can leave 64 bits
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::string path = fmt::format("entries[{}]", i);
    ledger.entries.push_back(entry_from_json((*entries)[i], path, *pool));
    try {
      all += ledger.entries.back().bytes * ledger.entries.back().copies;
    } catch (const Error& fault) {
      throw fault.inside(path + ".bytes");
    }
  }
  return ledger;
}

void require_peak_to_add_up(const Ledger& ledger) {
  Bytes at_peak;
  for (const Bytes bytes : ledger.at_peak_by_category()) at_peak += bytes;
  if (at_peak == ledger.live_peak_bytes) return;
  throw Error("live_peak_bytes",
              fmt::format("is {}, but the device entries alive at the peak add up to {}",
                          ledger.live_peak_bytes.count(), at_peak.count()),
              "correct it, or copies_at_peak of the entries");
}

}  // namespace

json::Value to_json(const Ledger& ledger) {
  json::Array entries;
  entries.reserve(ledger.entries.size());
  for (const Entry& entry : ledger.entries) entries.push_back(to_json(entry));
  return json::Object{{"schema", kSchema},
                      {"live_peak_bytes", ledger.live_peak_bytes.count()},
                      {"reserved_bytes", ledger.reserved_bytes.count()},
                      {"peak_step", ledger.peak_step},
                      {"entries", std::move(entries)}};
}

Ledger ledger_from_json(const json::Value& value, const std::string& where) {
  try {
    Ledger ledger = read(value);
    require_peak_to_add_up(ledger);
    return ledger;
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

}  // namespace fourhold::ledger

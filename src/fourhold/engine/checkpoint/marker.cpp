#include "fourhold/engine/checkpoint/marker.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"

namespace fourhold::engine {
namespace {

constexpr std::string_view kMarkerSchema = "fourhold.checkpoint/1";
constexpr IntegerRange kMarkerCount{.least = 0};
constexpr std::size_t kSumDigits = 16;
constexpr const char* kDamaged = "the marker is damaged: use an older checkpoint";

// 16 hexadecimal digits: JSON's numbers do not hold 64 unsigned bits.
std::uint64_t parse_sum(const std::string& text, const std::string& path) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::uint64_t sum = 0;
  bool valid = text.size() == kSumDigits;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    valid = valid && digit != std::string_view::npos;
    sum = sum << 4U | (digit & 15U);
  }
  if (!valid) {
    throw Error(path, fmt::format("'{:.40}' is not 16 hexadecimal digits", text), kDamaged);
  }
  return sum;
}

// Nobody writes a marker by hand: what it lacks was lost.
template <class Value>
Value required(std::optional<Value> value, const std::string& path) {
  if (!value) throw Error(path, "is missing", kDamaged);
  return *std::move(value);
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

Marker read_marker_fields(FieldReader& fields) {
  const std::string schema = required(fields.string("schema"), "schema");
  if (schema != kMarkerSchema) {
    throw Error("schema", fmt::format("is '{:.60}', not {}", schema, kMarkerSchema),
                "the checkpoint was written by another version of this program");
  }
  Marker marker;
  marker.step = required(fields.integer("step", kMarkerCount), "step");
  const std::int64_t block = required(fields.integer("block_bytes", kMarkerCount), "block_bytes");
  if (block != kSumBlockBytes) {
    throw Error("block_bytes", fmt::format("is {}, not {}", block, kSumBlockBytes),
                "the checkpoint was written by another version of this program");
  }
  const json::Array* files = fields.array("files");
  if (files == nullptr || files->empty()) {
    throw Error("files", "lists no file", kDamaged);
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < files->size(); ++i) {
    const std::string path = fmt::format("files[{}]", i);
    marker.files.push_back(read_file_sum(FieldReader((*files)[i], path)));
    if (!names.insert(marker.files.back().name).second) {
      throw Error(path, fmt::format("'{:.80}' is listed twice", marker.files.back().name),
                  kDamaged);
    }
  }
  fields.refuse_unread();
  return marker;
}

}  // namespace

FileSum read_file_sum(FieldReader fields) {
  FileSum file;
  file.name = required(fields.string("name"), fields.path("name"));
  file.bytes = required(fields.integer("bytes", kMarkerCount), fields.path("bytes"));
  if (!is_plain_name(file.name)) {
    throw Error(fields.path("name"), fmt::format("'{:.80}' is no plain file name", file.name),
                "files stand beside the marker");
  }
  const auto sums = fields.strings("xxh3_64").value_or(std::vector<std::string>());
  const std::int64_t blocks = ceil_divide(file.bytes, kSumBlockBytes);
  if (static_cast<std::int64_t>(sums.size()) != blocks) {
    throw Error(
        fields.path("xxh3_64"),
        fmt::format("has {} sums for the {} blocks of {} bytes", sums.size(), blocks, file.bytes),
        kDamaged);
  }
  for (const std::string& sum : sums) {
    file.blocks.push_back(parse_sum(sum, fields.path("xxh3_64")));
  }
  fields.refuse_unread();
  return file;
}

json::Object to_json(const FileSum& file) {
  json::Array sums;
  for (const std::uint64_t sum : file.blocks) sums.emplace_back(fmt::format("{:016x}", sum));
  return {{"name", file.name}, {"bytes", file.bytes}, {"xxh3_64", std::move(sums)}};
}

std::string write_marker(const Marker& marker) {
  json::Array files;
  for (const FileSum& file : marker.files) {
    files.emplace_back(to_json(file));
  }
  return json::write(json::Object{{"schema", kMarkerSchema},
                                  {"step", marker.step},
                                  {"block_bytes", kSumBlockBytes},
                                  {"files", std::move(files)}}) +
         "\n";
}

Marker parse_marker(std::string_view text, const std::string& where) {
  const json::Value document = json::parse(text, where);
  try {
    FieldReader fields(document, "");
    return read_marker_fields(fields);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

}  // namespace fourhold::engine

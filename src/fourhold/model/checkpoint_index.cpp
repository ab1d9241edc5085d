#include "fourhold/model/checkpoint_index.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/base/text_file.h"

namespace fourhold::model {
namespace {

constexpr std::int64_t kMaxIndexBytes = 100'000'000;

// Some writers print the total as a floating-point number.
std::optional<std::int64_t> read_total(FieldReader& metadata, std::string_view key) {
  constexpr double kMost = 9.0e18;
  const json::Value* value = metadata.value(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_integer()) return metadata.integer(key, {.least = 0});
  const double total = number_of(*value, metadata.path(key), {0, kMost});
  return static_cast<std::int64_t>(std::llround(total));
}

void check_shard_name(const std::string& name, const std::string& path) {
  const bool plain = !name.empty() && name != "." && name != ".." &&
                     name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!plain) {
    throw Error(path, fmt::format("'{:.80}' is not the name of a file beside the index", name),
                "shards stand in the folder of their index");
  }
  if (name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth")) {
    throw Error(path,
                fmt::format("'{:.80}' is a PyTorch pickle, which has no header to read", name),
                "convert it to safetensors, or give the model's config.json");
  }
}

std::vector<std::string> sorted_shards(const json::Object& weight_map, const FieldReader& fields) {
  std::vector<std::string> shards;
  for (const auto& [tensor, value] : weight_map) {
    const std::string path = fields.path(fmt::format("{:.80}", tensor));
    const std::string shard = string_of(value, path);
    // Tensors of one shard mostly follow each other: most repetitions end here.
    if (!shards.empty() && shards.back() == shard) continue;
    check_shard_name(shard, path);
    shards.push_back(shard);
  }
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  return shards;
}

CheckpointIndex read_fields(FieldReader& reader) {
  CheckpointIndex index;
  if (std::optional<FieldReader> metadata = reader.object("metadata")) {
    index.total_bytes = read_total(*metadata, "total_size");
    index.total_parameters = read_total(*metadata, "total_parameters");
  }
  const json::Value* weight_map = reader.value("weight_map");
  if (weight_map == nullptr) {
    throw Error(reader.path("weight_map"), "is missing",
                "an index maps every tensor to its file in 'weight_map'");
  }
  const FieldReader fields(*weight_map, reader.path("weight_map"));  // refuses what is no object
  const json::Object& entries = weight_map->object();
  if (entries.empty()) {
    throw Error(reader.path("weight_map"), "names no tensor", "the index is empty: fetch it again");
  }
  index.shards = sorted_shards(entries, fields);
  index.entries.reserve(entries.size());
  for (const auto& [tensor, shard] : entries) {
    const auto at = std::lower_bound(index.shards.begin(), index.shards.end(), shard.string());
    index.entries.push_back({tensor, static_cast<std::int32_t>(at - index.shards.begin())});
  }
  return index;
}

}  // namespace

CheckpointIndex parse_checkpoint_index(std::string_view text, const std::string& where) {
  const json::Value document = json::parse(text, where);
  try {
    FieldReader reader(document, "");
    return read_fields(reader);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

CheckpointIndex read_checkpoint_index(const std::string& path) {
  return parse_checkpoint_index(read_text_file(path, kMaxIndexBytes), path);
}

}  // namespace fourhold::model

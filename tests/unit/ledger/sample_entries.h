// Entries for tests: short to write by hand, and at random.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fourhold/ledger/ledger.h"

namespace fourhold::ledger {

// A device entry `step.NAME`, alive from `first` to `last`.
inline Entry sample(std::string_view name, std::int64_t bytes, std::int64_t first,
                    std::int64_t last, Category category = Category::other) {
  Entry entry;
  entry.key = {.block = "step", .name = name};
  entry.shape = {bytes};
  entry.dtype = DType::int8;
  entry.bytes = Bytes(bytes);
  entry.category = category;
  entry.first_step = first;
  entry.last_step = last;
  return entry;
}

inline std::int64_t random_integer(std::int64_t least, std::int64_t most) {
  return *rc::gen::inRange(least, most + 1);
}

inline Key random_key() {
  constexpr std::array<std::string_view, 3> kBlocks{"embedding", "layer", "head"};
  constexpr std::array<std::string_view, 4> kNames{"q_weight", "norm1_out", "logits", "x-1"};
  // The last two read as a role and as a layer.
  constexpr std::array<std::string_view, 4> kVariants{"", "lora_a", "gathered", "3"};
  Key key;
  key.block = kBlocks[static_cast<std::size_t>(random_integer(0, 2))];
  key.name = kNames[static_cast<std::size_t>(random_integer(0, 3))];
  key.variant = kVariants[static_cast<std::size_t>(random_integer(0, 3))];
  key.layer = static_cast<std::int32_t>(random_integer(-1, 12));
  key.micro_batch = static_cast<std::int32_t>(random_integer(-1, 3));
  key.role = static_cast<Role>(random_integer(0, kRoleCount - 1));
  return key;
}

inline Entry random_entry(std::int64_t most_bytes, std::int64_t most_step) {
  Entry entry;
  entry.key = random_key();
  const std::int64_t rank = random_integer(0, Dims::kMaxRank);
  for (std::int64_t i = 0; i < rank; ++i) entry.shape.push_back(random_integer(0, 9));
  entry.dtype = static_cast<DType>(random_integer(0, kDTypeCount - 1));
  entry.bytes = Bytes(random_integer(0, most_bytes));
  entry.category = static_cast<Category>(random_integer(0, kCategoryCount - 1));
  // Mostly on the device: the other places take no part in peaks.
  entry.place = static_cast<Place>(std::max<std::int64_t>(random_integer(-4, 2), 0));
  entry.first_step = random_integer(0, most_step);
  entry.last_step = random_integer(entry.first_step, most_step);
  return entry;
}

inline std::vector<Entry> random_entries(std::int64_t most_bytes = 1000,
                                         std::int64_t most_step = 40) {
  std::vector<Entry> entries(static_cast<std::size_t>(random_integer(0, 40)));
  for (Entry& entry : entries) entry = random_entry(most_bytes, most_step);
  return entries;
}

}  // namespace fourhold::ledger

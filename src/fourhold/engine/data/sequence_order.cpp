#include "fourhold/engine/data/sequence_order.h"

#include <cassert>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"

namespace fourhold::engine::data {
namespace {

constexpr int kRounds = 8;
// Small domains make poor Feistel networks: below 256 numbers, walk in 256.
constexpr unsigned kLeastHalfBits = 4;

// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): every bit of the input moves
// every bit of the output.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

std::uint64_t permuted(std::uint64_t number, std::uint64_t key, unsigned half_bits) {
  const std::uint64_t half_mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = number >> half_bits;
  std::uint64_t right = number & half_mask;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t word = mixed(key + static_cast<std::uint64_t>(round)) ^ right;
    const std::uint64_t next = left ^ (mixed(word) & half_mask);
    left = right;
    right = next;
  }
  return (left << half_bits) | right;
}

// JSON numbers are int64: seeds keep their bits.
std::int64_t as_signed(std::uint64_t value) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

SequenceOrder::SequenceOrder(std::int64_t count, std::uint64_t seed)
    : count_(count), seed_(seed), half_bits_(kLeastHalfBits) {
  assert(count >= 1 && count <= std::int64_t{1} << 60);
  while ((std::int64_t{1} << (2 * half_bits_)) < count) ++half_bits_;
}

std::int64_t SequenceOrder::sequence_at(DataPosition position) const {
  assert(position.sequence >= 0 && position.sequence < count_ && position.epoch >= 0);
  const std::uint64_t key = mixed(mixed(seed_) ^ static_cast<std::uint64_t>(position.epoch));
  auto number = static_cast<std::uint64_t>(position.sequence);
  // The walk stays on a cycle of the permutation that holds `position`, so it comes back.
  do {
    number = permuted(number, key, half_bits_);
  } while (number >= static_cast<std::uint64_t>(count_));
  return static_cast<std::int64_t>(number);
}

DataPosition SequenceOrder::after(DataPosition position, std::int64_t sequences) const {
  assert(sequences >= 0);
  const std::int64_t reached = checked_add(position.sequence, sequences);
  return {checked_add(position.epoch, reached / count_), reached % count_};
}

json::Value to_json(DataPosition position, const SequenceOrder& order) {
  return json::Object{{"epoch", position.epoch},
                      {"sequence", position.sequence},
                      {"sequences", order.count()},
                      {"seed", as_signed(order.seed())}};
}

DataPosition position_from_json(const json::Value& value, const SequenceOrder& order,
                                const std::string& where) {
  FieldReader reader(value, where);
  DataPosition position;
  position.epoch =
      reader.required_integer("epoch", {0, std::numeric_limits<std::int64_t>::max() / 2});
  const std::int64_t count = reader.required_integer("sequences", {1});
  const std::int64_t seed = reader.required_integer("seed");
  if (count != order.count()) {
    throw Error(reader.path("sequences"),
                fmt::format("the run was saved with {} training sequences, but the data has {}",
                            count, order.count()),
                "resume with the same data, sequence length and held-out share");
  }
  if (seed != as_signed(order.seed())) {
    throw Error(
        reader.path("seed"),
        fmt::format("the run was saved with seed {}, not {}", seed, as_signed(order.seed())),
        fmt::format("resume with --seed {}", seed));
  }
  position.sequence = reader.required_integer("sequence", {0, count - 1});
  reader.refuse_unread();
  return position;
}

}  // namespace fourhold::engine::data

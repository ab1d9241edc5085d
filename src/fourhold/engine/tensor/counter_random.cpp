#include "fourhold/engine/tensor/counter_random.h"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "fourhold/engine/tensor/philox_fill.h"

namespace fourhold::engine {
namespace {

constexpr std::uint64_t kNormal = std::uint64_t{1} << 63;

constexpr std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

// FNV-1a, 64 bits: G. Fowler, L. Noll, K.-P. Vo, D. Eastlake, RFC 9923.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

std::array<std::uint32_t, 4> counter_of(std::uint64_t block, std::uint64_t step) {
  return {low_word(block), high_word(block), low_word(step), high_word(step)};
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kPhiloxMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kPhiloxMultiplier1} * counter[2];
    counter = {high_word(product1) ^ counter[1] ^ key[0], low_word(product1),
               high_word(product0) ^ counter[3] ^ key[1], low_word(product0)};
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  return counter;
}

CounterRandom::CounterRandom(std::uint64_t seed, std::string_view stream, std::uint64_t step)
    : step_(step) {
  assert(step < kNormal && "the highest bit of the step is taken");
  // Seed and name pass through the generator itself, so that seeds and names that differ in one bit
  // give unrelated keys.
  const std::uint64_t name = hash_of(stream);
  const auto mixed = philox4x32(counter_of(seed, name), {0, 0});
  key_ = {mixed[0], mixed[1]};
}

std::uint32_t CounterRandom::uniform32(std::uint64_t index) const {
  return philox4x32(counter_of(index / 4, step_), key_)[index % 4];
}

void CounterRandom::fill_uniform32(std::uint64_t first_index,
                                   std::span<std::uint32_t> values) const {
  std::size_t done = 0;
  for (; done < values.size() && (first_index + done) % 4 != 0; ++done) {
    values[done] = uniform32(first_index + done);
  }
  const std::size_t blocks = (values.size() - done) / 4;
  fill_philox_blocks((first_index + done) / 4, step_, key_, values.subspan(done, 4 * blocks));
  for (done += 4 * blocks; done < values.size(); ++done) {
    values[done] = uniform32(first_index + done);
  }
}

float CounterRandom::normal(std::uint64_t index) const {
  const auto words = philox4x32(counter_of(index / 2, step_ | kNormal), key_);
  const std::size_t first = 2 * (index % 2);
  // Midpoints of 2^32 equal intervals, so that the logarithm never sees 0.
  const double radius_part = (words[first] + 0.5) * 0x1p-32;
  const double turn = (words[first + 1] + 0.5) * 0x1p-32;
  return static_cast<float>(std::sqrt(-2 * std::log(radius_part)) *
                            std::cos(2 * std::numbers::pi * turn));
}

}  // namespace fourhold::engine

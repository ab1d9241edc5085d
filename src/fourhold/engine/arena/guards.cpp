#include "fourhold/engine/arena/guards.h"

#include <algorithm>
#include <array>

namespace fourhold::engine {
namespace {

constexpr std::byte kGuard{0xC5};
// Little-endian 0xFFC9 in every half: quiet NaNs of both types, with a payload of our own.
constexpr std::array<std::byte, 2> kPoison{std::byte{0xC9}, std::byte{0xFF}};

}  // namespace

void fill_guards(const LedgerArena& arena, std::size_t entry) {
  const std::span<std::byte> own = arena.bytes_of(entry);
  const auto guard = static_cast<std::size_t>(arena.guard_bytes());
  std::fill_n(own.data() - guard, guard, kGuard);
  std::fill_n(own.data() + own.size(), guard, kGuard);
}

std::optional<std::int64_t> changed_guard(const LedgerArena& arena, std::size_t entry) {
  const std::span<std::byte> own = arena.bytes_of(entry);
  const std::int64_t guard = arena.guard_bytes();
  const auto size = static_cast<std::int64_t>(own.size());
  for (std::int64_t i = 1; i <= guard; ++i) {
    if (*(own.data() - i) != kGuard) return -i;
  }
  for (std::int64_t i = 0; i < guard; ++i) {
    if (*(own.data() + size + i) != kGuard) return size + i;
  }
  return std::nullopt;
}

void poison(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = kPoison[i % 2];
}

std::optional<std::int64_t> poison_left(std::span<const std::byte> bytes,
                                        std::int64_t element_bytes) {
  const auto step = static_cast<std::size_t>(element_bytes);
  for (std::size_t i = 0; i + step <= bytes.size(); i += step) {
    bool poisoned = true;
    for (std::size_t k = 0; k < step; ++k) poisoned = poisoned && bytes[i + k] == kPoison[k % 2];
    if (poisoned) return static_cast<std::int64_t>(i);
  }
  return std::nullopt;
}

}  // namespace fourhold::engine

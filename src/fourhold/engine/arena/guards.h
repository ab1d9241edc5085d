// Patterns in memory that nobody may touch, or that somebody must have overwritten: how a test run
// notices a kernel that writes outside its operand, or leaves a part of one unwritten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fourhold/engine/arena/ledger_arena.h"

namespace fourhold::engine {

// Fills the guards of all entries; they lie apart from every entry that is alive at the same time,
// so call it for an entry when it comes alive.
void fill_guards(const LedgerArena& arena, std::size_t entry);
// Offset, from the entry's first byte, of the first guard byte that was changed.
[[nodiscard]] std::optional<std::int64_t> changed_guard(const LedgerArena& arena,
                                                        std::size_t entry);

// Values that no kernel makes: a NaN in fp32 and, by halves, in bf16.
void poison(std::span<std::byte> bytes);
// Offset of the first element, of so many bytes, that still holds nothing but poison. (Half an fp32
// may look like it by chance.)
[[nodiscard]] std::optional<std::int64_t> poison_left(std::span<const std::byte> bytes,
                                                      std::int64_t element_bytes);

}  // namespace fourhold::engine

// The messages an exchange has under way, kept from one to the next so that none allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/engine/communicator/communicator.h"

namespace fourhold::engine {

struct ExchangeMessages {
  // Chunks are received two ahead, because that is what the buffer holds, and sent four ahead, so
  // that a rank that is late does not keep the others waiting for what it has long had.
  static constexpr std::int64_t kReceived = 2;
  static constexpr std::int64_t kSent = 4;

  explicit ExchangeMessages(int ranks) {
    for (auto& messages : received) messages.reserve(static_cast<std::size_t>(ranks));
    for (auto& messages : sent) messages.reserve(static_cast<std::size_t>(ranks));
    sources.reserve(static_cast<std::size_t>(ranks));
  }

  // Of chunk c in place c % kReceived, c % kSent: one for each other member.
  std::array<std::vector<Message>, kReceived> received;
  std::array<std::vector<Message>, kSent> sent;
  std::vector<const std::byte*> sources;
};

}  // namespace fourhold::engine

// The exchange that sums are made of: piece j of every member's data goes to member j, chunk by
// chunk, while the chunks before are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/communicator/communicator.h"
#include "fourhold/engine/communicator/exchange_messages.h"

namespace fourhold::engine {

// What is exchanged, and as a part of which collective: items of a fixed number of bytes, cut into
// pieces of whole items.
struct ExchangedItems {
  std::span<const std::byte> bytes;
  std::int64_t item_bytes = 1;
  plan::Collective kind = plan::Collective::all_reduce;
};

class Exchange {
 public:
  // Throws Error when `buffer` cannot hold two chunks of every other member.
  Exchange(Communicator& communicator, ExchangeMessages& messages, std::span<std::byte> buffer,
           const Group& group, const ExchangedItems& items);

  // Calls combine(first item, number of items, sources) for each chunk of this member's piece, in
  // order: sources are the same items of every member, in the order of ranks. The items of other
  // pieces must stay as they are until this returns.
  template <typename Combine>
  void run(const Combine& combine) {
    start();
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      if (const Chunk own = chunk_of(place_, chunk); own.items != 0) {
        wait_for_received(chunk);
        combine(own.first, own.items, sources_of(chunk));
      }
      go_on(chunk);
    }
    finish();
  }

  [[nodiscard]] std::int64_t sent_bytes() const { return sent_bytes_; }

 private:
  struct Chunk {
    std::int64_t first = 0;
    std::int64_t items = 0;
  };
  [[nodiscard]] Chunk chunk_of(int member, std::int64_t chunk) const;
  [[nodiscard]] std::byte* received(int member, std::int64_t chunk) const;
  [[nodiscard]] std::span<const std::byte* const> sources_of(std::int64_t chunk);

  void start();
  void go_on(std::int64_t chunk);
  void finish();
  void receive(std::int64_t chunk);
  void send(std::int64_t chunk);
  void wait_for_received(std::int64_t chunk);
  void wait_for_sent(std::int64_t chunk);

  Communicator& communicator_;
  ExchangeMessages& messages_;
  std::span<std::byte> buffer_;
  const Group& group_;
  ExchangedItems items_;
  int place_;
  std::int64_t all_items_;
  std::int64_t chunk_items_;
  std::int64_t chunks_;  // of the longest piece
  std::int64_t sent_bytes_ = 0;
};

}  // namespace fourhold::engine

#include "fourhold/engine/communicator/exchange.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "fourhold/base/error.h"
#include "fourhold/engine/communicator/message_tags.h"
#include "fourhold/plan/exchange_buffer.h"
#include "fourhold/plan/parameter_part.h"

namespace fourhold::engine {

using plan::Piece;
using plan::piece_of;

Exchange::Exchange(Communicator& communicator, ExchangeMessages& messages,
                   std::span<std::byte> buffer, const Group& group, const ExchangedItems& items)
    : communicator_(communicator),
      messages_(messages),
      buffer_(buffer),
      group_(group),
      items_(items),
      place_(group.place),
      all_items_(static_cast<std::int64_t>(items.bytes.size()) / items.item_bytes),
      chunk_items_(0),
      chunks_(0) {
  const std::int64_t longest = piece_of(all_items_, group.size(), 0).elements();
  chunk_items_ = std::min(longest, plan::kExchangeChunkBytes / items.item_bytes);
  if (longest != 0) chunks_ = (longest + chunk_items_ - 1) / chunk_items_;
  const std::int64_t needed =
      ExchangeMessages::kReceived * (group.size() - 1) * chunk_items_ * items.item_bytes;
  if (static_cast<std::int64_t>(buffer.size()) < needed) {
    throw Error("exchange of " + std::to_string(items.bytes.size()) + " bytes over " +
                    std::to_string(group.size()) + " ranks",
                "its buffer has " + std::to_string(buffer.size()) + " bytes and needs " +
                    std::to_string(needed),
                "reserve what plan/exchange_buffer.h says", ExitCode::internal_error);
  }
}

// The chunk of a member's piece; empty behind its end.
Exchange::Chunk Exchange::chunk_of(int member, std::int64_t chunk) const {
  const Piece piece = piece_of(all_items_, group_.size(), member);
  const std::int64_t first = piece.begin + chunk * chunk_items_;
  return {first, std::clamp<std::int64_t>(piece.end - first, 0, chunk_items_)};
}

std::byte* Exchange::received(int member, std::int64_t chunk) const {
  const std::int64_t others = group_.size() - 1;
  const std::int64_t other = member < place_ ? member : member - 1;
  const std::int64_t slot = chunk % ExchangeMessages::kReceived * others + other;
  return buffer_.data() + slot * chunk_items_ * items_.item_bytes;
}

std::span<const std::byte* const> Exchange::sources_of(std::int64_t chunk) {
  std::vector<const std::byte*>& sources = messages_.sources;
  sources.clear();
  for (int member = 0; member < group_.size(); ++member) {
    sources.push_back(member == place_
                          ? items_.bytes.data() + chunk_of(place_, chunk).first * items_.item_bytes
                          : received(member, chunk));
  }
  return sources;
}

void Exchange::receive(std::int64_t chunk) {
  const Chunk own = chunk_of(place_, chunk);
  if (own.items == 0) return;
  std::vector<Message>& messages =
      messages_.received[static_cast<std::size_t>(chunk % ExchangeMessages::kReceived)];
  messages.clear();
  for (int member = 0; member < group_.size(); ++member) {
    if (member == place_) continue;
    messages.push_back(communicator_.receive(
        group_.ranks[static_cast<std::size_t>(member)], tag_of(items_.kind),
        {received(member, chunk), static_cast<std::size_t>(own.items * items_.item_bytes)}));
  }
}

// Each member begins with the one behind it, so that not all send to the same one first.
void Exchange::send(std::int64_t chunk) {
  std::vector<Message>& messages =
      messages_.sent[static_cast<std::size_t>(chunk % ExchangeMessages::kSent)];
  messages.clear();
  for (int step = 1; step < group_.size(); ++step) {
    const int member = (place_ + step) % group_.size();
    const Chunk other = chunk_of(member, chunk);
    if (other.items == 0) continue;
    const auto begin = static_cast<std::size_t>(other.first * items_.item_bytes);
    const auto bytes = static_cast<std::size_t>(other.items * items_.item_bytes);
    messages.push_back(communicator_.send(group_.ranks[static_cast<std::size_t>(member)],
                                          tag_of(items_.kind), items_.bytes.subspan(begin, bytes)));
    sent_bytes_ += static_cast<std::int64_t>(bytes);
  }
}

void Exchange::wait_for_received(std::int64_t chunk) {
  communicator_.wait(
      messages_.received[static_cast<std::size_t>(chunk % ExchangeMessages::kReceived)]);
}

void Exchange::wait_for_sent(std::int64_t chunk) {
  communicator_.wait(messages_.sent[static_cast<std::size_t>(chunk % ExchangeMessages::kSent)]);
}

void Exchange::start() {
  for (std::int64_t chunk = 0; chunk < ExchangeMessages::kReceived; ++chunk) receive(chunk);
  for (std::int64_t chunk = 0; chunk < std::min(chunks_, ExchangeMessages::kSent); ++chunk) {
    send(chunk);
  }
}

void Exchange::go_on(std::int64_t chunk) {
  receive(chunk + ExchangeMessages::kReceived);
  // What was sent two chunks ago has been taken by all that are no further behind than that.
  const std::int64_t taken = chunk - ExchangeMessages::kSent / 2;
  if (taken < 0 || taken + ExchangeMessages::kSent >= chunks_) return;
  wait_for_sent(taken);
  send(taken + ExchangeMessages::kSent);
}

void Exchange::finish() {
  for (std::int64_t chunk = std::max<std::int64_t>(0, chunks_ - ExchangeMessages::kSent);
       chunk < chunks_; ++chunk) {
    wait_for_sent(chunk);
  }
}

}  // namespace fourhold::engine

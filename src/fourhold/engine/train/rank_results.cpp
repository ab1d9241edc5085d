#include "fourhold/engine/train/rank_results.h"

#include <span>
#include <type_traits>

namespace fourhold::engine {
namespace {

constexpr int kResultTag = 31000;  // above those of collectives and stages, in MPI's least range

static_assert(std::is_trivially_copyable_v<RankResult>, "it travels as its bytes");

}  // namespace

LedgerTotals& LedgerTotals::operator+=(const LedgerTotals& other) {
  for (std::size_t i = 0; i < by_category.size(); ++i) by_category[i] += other.by_category[i];
  live_peak_bytes += other.live_peak_bytes;
  reserved_bytes += other.reserved_bytes;
  return *this;
}

LedgerTotals totals_of(const ledger::Ledger& ledger) {
  return {ledger.at_peak_by_category(), ledger.live_peak_bytes, ledger.reserved_bytes};
}

std::vector<RankResult> gather_results(const RankResult& own, Communicator* communicator) {
  if (communicator == nullptr || communicator->size() == 1) return {own};
  if (communicator->rank() != 0) {
    const Message sent = communicator->send(0, kResultTag, std::as_bytes(std::span(&own, 1)));
    communicator->wait(std::span(&sent, 1));
    return {own};
  }
  std::vector<RankResult> all(static_cast<std::size_t>(communicator->size()));
  all[0] = own;
  for (int rank = 1; rank < communicator->size(); ++rank) {
    const Message received = communicator->receive(
        rank, kResultTag,
        std::as_writable_bytes(std::span(&all[static_cast<std::size_t>(rank)], 1)));
    communicator->wait(std::span(&received, 1));
  }
  return all;
}

}  // namespace fourhold::engine

// Single numbers, and the statistics of a loss over a split vocabulary.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/communicator/exchange.h"
#include "fourhold/engine/communicator/message_tags.h"
#include "fourhold/engine/threads/parallel.h"
#include "fourhold/plan/parameter_part.h"

namespace fourhold::engine {
namespace {

using plan::Collective;

struct RowStatistics {
  float largest = 0;
  float sum = 0;
  float target = 0;
};
static_assert(sizeof(RowStatistics) == 3 * sizeof(float));

RowStatistics row_at(const std::byte* rows, std::int64_t row) {
  RowStatistics result;
  std::memcpy(&result, rows + row * static_cast<std::int64_t>(sizeof result), sizeof result);
  return result;
}

// Of all columns, from those of each rank. A rank whose columns are padding has a sum of zero.
RowStatistics merged(std::span<const std::byte* const> sources, std::int64_t row) {
  RowStatistics all = row_at(sources[0], row);
  for (const std::byte* source : sources) {
    all.largest = std::max(all.largest, row_at(source, row).largest);
  }
  double sum = 0;
  float target = 0;
  for (const std::byte* source : sources) {
    const RowStatistics part = row_at(source, row);
    if (part.sum != 0) {
      sum += static_cast<double>(part.sum) *
             std::exp(static_cast<double>(part.largest) - static_cast<double>(all.largest));
    }
    target += part.target;  // zero from all ranks but one
  }
  all.sum = static_cast<float>(sum);
  all.target = target;
  return all;
}

}  // namespace

// As an all-reduce of one element: member 0 owns it, adds, and tells the others.
template <typename T>
T Collectives::sum_of(const Group& group, T value) {
  if (group.size() == 1) return value;
  constexpr int kTag = tag_of(Collective::all_reduce);
  const std::int64_t others = group.size() - 1;
  const auto rank = [&](int member) { return group.ranks[static_cast<std::size_t>(member)]; };
  const auto writable = [](T& number) { return std::as_writable_bytes(std::span(&number, 1)); };
  const auto bytes_in = [](const T& number) { return std::as_bytes(std::span(&number, 1)); };
  if (group.place != 0) {
    T sum = 0;
    messages_.clear();
    messages_.push_back(communicator_.receive(rank(0), kTag, writable(sum)));
    messages_.push_back(communicator_.send(rank(0), kTag, bytes_in(value)));
    communicator_.wait(messages_);
    count(Collective::all_reduce, 2 * others, sizeof(T));
    return sum;
  }
  T sum = value;
  for (int member = 1; member < group.size(); ++member) {
    T other = 0;
    const Message message = communicator_.receive(rank(member), kTag, writable(other));
    communicator_.wait({&message, 1});
    sum += other;
  }
  messages_.clear();
  for (int member = 1; member < group.size(); ++member) {
    messages_.push_back(communicator_.send(rank(member), kTag, bytes_in(sum)));
  }
  communicator_.wait(messages_);
  count(Collective::all_reduce, 2 * others, others * static_cast<std::int64_t>(sizeof(T)));
  return sum;
}

double Collectives::sum(const Group& group, double value) { return sum_of(group, value); }

std::int64_t Collectives::sum(const Group& group, std::int64_t value) {
  return sum_of(group, value);
}

void Collectives::merge_statistics(const Group& group, const Tensor& statistics) {
  if (group.size() == 1) return;
  constexpr std::int64_t kRowBytes = sizeof(RowStatistics);
  const std::span<std::byte> bytes(statistics.data, static_cast<std::size_t>(statistics.bytes()));
  const auto combine = [&](std::int64_t first, std::int64_t rows,
                           std::span<const std::byte* const> sources) {
    std::byte* to = statistics.data + first * kRowBytes;
    parallel_for(rows, threads_, [&](const Share& share) {
      for (std::int64_t row = share.begin; row < share.end; ++row) {
        const RowStatistics all = merged(sources, row);
        std::memcpy(to + row * kRowBytes, &all, sizeof all);
      }
    });
  };
  constexpr Collective kKind = Collective::reduce_scalars;
  Exchange exchange(communicator_, exchange_, buffer_, group, {bytes, kRowBytes, kKind});
  exchange.run(combine);
  const std::int64_t gathered = gather_pieces(kKind, group, bytes, kRowBytes);
  count(kKind, std::int64_t{2} * (group.size() - 1), exchange.sent_bytes() + gathered);
}

}  // namespace fourhold::engine

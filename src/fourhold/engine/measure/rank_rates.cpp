#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/communicator/message_tags.h"
#include "fourhold/engine/measure/rank_links.h"
#include "fourhold/engine/tensor/bf16.h"
#include "fourhold/hardware/cluster.h"
#include "fourhold/hardware/device_file.h"
#include "fourhold/plan/exchange_buffer.h"

namespace fourhold::engine {
namespace {

constexpr std::int64_t kFirstBytes = 1 << 20;  // enough to see how fast a link is
constexpr std::int64_t kMostBytes = 64 << 20;  // beyond every cache
constexpr double kMessageSeconds = 0.25;       // that a large one should take, slow links included

template <typename T>
std::span<std::byte> bytes_of_values(T& values) {
  return {reinterpret_cast<std::byte*>(values.data()),
          values.size() * sizeof(typename T::value_type)};
}

void send(Communicator& communicator, int to, std::span<const std::byte> bytes) {
  const std::array messages{communicator.send(to, kMeasureTag, bytes)};
  communicator.wait(messages);
}
void receive(Communicator& communicator, int from, std::span<std::byte> bytes) {
  const std::array messages{communicator.receive(from, kMeasureTag, bytes)};
  communicator.wait(messages);
}

double median(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

// The same number on all ranks: rank 0's.
std::int64_t told_by_first(Communicator& communicator, std::int64_t value) {
  std::array<std::int64_t, 1> told{value};
  if (communicator.rank() != 0) {
    receive(communicator, 0, bytes_of_values(told));
    return told[0];
  }
  for (int to = 1; to < communicator.size(); ++to) send(communicator, to, bytes_of_values(told));
  return value;
}

// One way, between rank 0 and `peer`, by the median of several there and back; both call it.
double one_way_seconds(Communicator& communicator, int peer, std::span<std::byte> bytes,
                       int times) {
  const bool first = communicator.rank() == 0;
  const int other = first ? peer : 0;
  std::vector<double> seconds;
  for (int i = 0; i <= times; ++i) {
    const double begin = steady_seconds();
    if (first) send(communicator, other, bytes);
    receive(communicator, other, bytes);
    if (!first) send(communicator, other, bytes);
    if (i > 0) seconds.push_back((steady_seconds() - begin) / 2);  // the first one warms up
  }
  return median(std::move(seconds));
}

struct Repeats {
  int small = 0;
  int large = 0;
};
Repeats repeats_of(Effort effort) {
  return effort == Effort::quick ? Repeats{200, 3} : Repeats{2000, 9};
}

// Bytes that take about kMessageSeconds at that rate.
std::int64_t message_bytes(double bytes_per_second) {
  const double fitting = bytes_per_second * kMessageSeconds;
  return fitting < static_cast<double>(kMostBytes)
             ? std::max(kFirstBytes, static_cast<std::int64_t>(fitting))
             : kMostBytes;
}

// Rates with one peer, on rank 0; all ranks call it.
PairRates measure_pair(Communicator& communicator, int peer, std::vector<std::byte>& buffer,
                       Repeats repeats) {
  const bool takes_part = communicator.rank() == 0 || communicator.rank() == peer;
  const std::span<std::byte> all(buffer);
  PairRates rates;
  double first = 0;  // bytes per second
  if (takes_part) {
    rates.latency_seconds =
        one_way_seconds(communicator, peer, all.first(sizeof(std::int64_t)), repeats.small);
    first = static_cast<double>(kFirstBytes) /
            one_way_seconds(communicator, peer, all.first(kFirstBytes), 1);
  }
  const std::int64_t bytes = told_by_first(communicator, message_bytes(first));
  if (takes_part) {
    const double seconds = one_way_seconds(
        communicator, peer, all.first(static_cast<std::size_t>(bytes)), repeats.large);
    rates.bytes_per_second = static_cast<double>(bytes) / seconds;
  }
  return rates;
}

// What ranks know of their nodes, on all ranks.
struct Nodes {
  std::vector<int> first;  // of each rank: the first rank of its node
  std::int64_t count = 0;
  std::int64_t ranks = 0;  // of each
};

Nodes nodes_of(Communicator& communicator, Collectives& collectives, const Group& world) {
  Nodes nodes;
  nodes.first.resize(static_cast<std::size_t>(communicator.size()));
  for (std::size_t rank = 0; rank < nodes.first.size(); ++rank) {
    const bool own = static_cast<int>(rank) == communicator.rank();
    const std::int64_t mine = own ? communicator.node().front() : 0;
    nodes.first[rank] = static_cast<int>(collectives.sum(world, mine));
  }
  nodes.ranks = std::count(nodes.first.begin(), nodes.first.end(), 0);
  for (std::size_t rank = 0; rank < nodes.first.size(); ++rank) {
    if (nodes.first[rank] == static_cast<int>(rank)) ++nodes.count;
    const auto place = static_cast<std::int64_t>(rank) / nodes.ranks * nodes.ranks;
    if (nodes.first[rank] == place) continue;
    throw Error("ranks",
                fmt::format("rank {} is not on the node of rank {}: plans place ranks node after "
                            "node, equally many on each",
                            rank, place),
                "start it with mpirun --map-by slot, or with hosts of equally many slots");
  }
  if (nodes.count * nodes.ranks != communicator.size()) {
    throw Error("ranks", "the last node has fewer ranks than the first",
                "give each host equally many slots");
  }
  return nodes;
}

// What a reduce-scatter of one group costs this rank. Groups of several nodes do it side by side:
// all ranks call it, each with its own.
class Exchange {
 public:
  Exchange(Collectives& collectives, const Group& world, const Group& group)
      : collectives_(collectives), world_(world), group_(group) {}

  ExchangeRates rates(std::span<std::byte> buffer, std::int64_t bytes, Repeats repeats) {
    const auto n = static_cast<double>(group_.size());
    const double start = seconds_of(buffer, std::int64_t{2} * group_.size(), repeats.small / 10);
    const double large = seconds_of(buffer, bytes, repeats.large);
    const double sent = static_cast<double>(bytes) * (n - 1) / n;
    return {group_.size(), start, sent / std::max(large - start, large / 100)};
  }

 private:
  double seconds_of(std::span<std::byte> buffer, std::int64_t bytes, int times) {
    const std::int64_t elements = bytes / 2;
    const std::int64_t longest = ceil_divide(elements, std::int64_t{group_.size()});
    const Tensor whole{buffer.data(), DType::bf16, Dims{elements}};
    std::vector<Bf16> piece(static_cast<std::size_t>(longest));
    const Tensor own{bytes_of_values(piece).data(), DType::bf16, Dims{longest}};
    std::vector<double> seconds;
    for (int i = 0; i <= times; ++i) {
      static_cast<void>(collectives_.sum(world_, std::int64_t{0}));  // all start together
      const double begin = steady_seconds();
      collectives_.reduce_scatter(group_, whole, own, Sum::replace);
      if (i > 0) seconds.push_back(steady_seconds() - begin);
    }
    return median(std::move(seconds));
  }

  Collectives& collectives_;
  const Group& world_;
  const Group& group_;
};

PairRates slower(const PairRates& a, const PairRates& b) {
  if (a.bytes_per_second == 0) return b;
  return {std::max(a.latency_seconds, b.latency_seconds),
          std::min(a.bytes_per_second, b.bytes_per_second)};
}

Group group_of(std::int64_t first, std::int64_t size, int rank) {
  Group group;
  for (std::int64_t i = 0; i < size; ++i) group.ranks.push_back(static_cast<int>(first + i));
  group.place = rank - static_cast<int>(first);
  return group;
}

}  // namespace

void meet(Communicator& communicator) {
  const Group world = group_of(0, communicator.size(), communicator.rank());
  Collectives collectives(communicator, {}, 1);
  static_cast<void>(collectives.sum(world, std::int64_t{0}));
}

RankRates measure_ranks(Communicator& communicator, Effort effort, int threads) {
  const int ranks = communicator.size();
  const Repeats repeats = repeats_of(effort);
  std::vector<std::byte> buffer(static_cast<std::size_t>(kMostBytes), std::byte{0x3c});
  std::vector<std::byte> exchanged(static_cast<std::size_t>(plan::exchange_buffer_bytes(ranks)));
  Collectives collectives(communicator, exchanged, threads);
  const Group world = group_of(0, ranks, communicator.rank());
  const Nodes nodes = nodes_of(communicator, collectives, world);
  RankRates rates{.nodes = nodes.count, .node_ranks = nodes.ranks};
  for (int peer = 1; peer < ranks; ++peer) {
    const PairRates pair = measure_pair(communicator, peer, buffer, repeats);
    PairRates& kind = peer < nodes.ranks ? rates.near : rates.far;
    kind = slower(kind, pair);
  }
  const auto bytes_for = [&](const PairRates& pair) {
    return told_by_first(communicator, message_bytes(pair.bytes_per_second));
  };
  const std::int64_t own = nodes.first[static_cast<std::size_t>(communicator.rank())];
  const Group node = group_of(own, nodes.ranks, communicator.rank());
  if (nodes.ranks > 1) {
    rates.node = Exchange(collectives, world, node).rates(buffer, bytes_for(rates.near), repeats);
  }
  if (nodes.count > 1) {
    rates.all = Exchange(collectives, world, world).rates(buffer, bytes_for(rates.far), repeats);
  }
  return rates;
}

hardware::Device common_device(Communicator& communicator, const hardware::Device& own) {
  std::string text = json::write(hardware::device_json(own));
  std::array<std::int64_t, 1> length{static_cast<std::int64_t>(text.size())};
  if (communicator.rank() != 0) {
    send(communicator, 0, bytes_of_values(length));
    send(communicator, 0, bytes_of_values(text));
    return own;
  }
  std::vector<hardware::DeviceGroup> devices{{own, 1}};
  for (int from = 1; from < communicator.size(); ++from) {
    receive(communicator, from, bytes_of_values(length));
    text.resize(static_cast<std::size_t>(length[0]));
    receive(communicator, from, bytes_of_values(text));
    devices.push_back({hardware::parse_device(text, fmt::format("rank {}", from)), 1});
  }
  return hardware::mixed_cluster(devices).device;
}

}  // namespace fourhold::engine

// What messages between the ranks of a job cost, as the links of a device file.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/engine/communicator/communicator.h"
#include "fourhold/engine/measure/timing.h"
#include "fourhold/hardware/device.h"
#include "fourhold/hardware/link.h"

namespace fourhold::engine {

// One kind of way between ranks.
struct PairRates {
  double latency_seconds = 0;   // of a message of 8 bytes, one way
  double bytes_per_second = 0;  // of a large one, one way
};
// One group that sums by direct exchange.
struct ExchangeRates {
  std::int64_t ranks = 1;
  double start_seconds = 0;     // of a reduce-scatter of next to nothing
  double bytes_per_second = 0;  // sent by each rank, while all send
};

struct RankRates {
  std::int64_t nodes = 1;
  std::int64_t node_ranks = 1;  // of each node
  PairRates near{};             // rank 0 and another of its node; nothing where it is alone
  PairRates far{};              // rank 0 and one of another node
  ExchangeRates node{};         // the ranks of rank 0's node
  ExchangeRates all{};          // all ranks, where there are several nodes
};

// Ping-pong of rank 0 with every other rank in turn, the slowest of each kind; then reduce-scatters
// of bf16 by direct exchange, within nodes and over all ranks. Every rank calls it; the rates are
// rank 0's. A slow network gets smaller messages, so that it takes seconds. Throws Error unless
// nodes have equally many ranks, placed node after node.
[[nodiscard]] RankRates measure_ranks(Communicator& communicator, Effort effort, int threads);

// Waits until every rank has come.
void meet(Communicator& communicator);

// The link inside a node: `latency` and peak by single messages, the share and start of collectives
// by reduce-scatters, as predict/topology.h puts them together again.
[[nodiscard]] hardware::Link node_link(const RankRates& rates);
// A device's share of its node's ports.
[[nodiscard]] hardware::Link network_link(const RankRates& rates);

// The device with the links of `rates`, its sources named. `library` is how messages travelled.
void set_links(hardware::Device& device, const RankRates& rates, const std::string& library);

// On rank 0 the device that a plan over all ranks can count on: of ranks that differ, the least of
// each fact (hardware/cluster.h). Every rank calls it with its own; the others get theirs back.
[[nodiscard]] hardware::Device common_device(Communicator& communicator,
                                             const hardware::Device& own);

}  // namespace fourhold::engine

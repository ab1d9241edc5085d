// Where the ranks of a group stand, and how long their collectives take.
#pragma once

#include <cstdint>

#include "fourhold/hardware/cluster.h"
#include "fourhold/plan/mesh.h"
#include "fourhold/plan/sharding.h"

namespace fourhold::predict {

// The worst group of an axis: the one that spans most nodes.
struct GroupTopology {
  std::int64_t ranks = 1;
  std::int64_t ranks_in_node = 1;  // members that share a node, and with it drive its ports
  std::int64_t nodes = 1;
};

// Of `ranks` members `stride` ranks apart, ranks placed in nodes of `node` devices in order.
[[nodiscard]] GroupTopology group_topology(std::int64_t ranks, std::int64_t stride,
                                           std::int64_t node);
// Of the groups of an axis of this plan (plan/mesh.h places ranks tensor fastest, then context,
// data, pipeline). kv_heads is needed by Axis::kv_replicas only.
[[nodiscard]] GroupTopology group_topology(const plan::Plan& plan, plan::Axis axis,
                                           std::int64_t kv_heads, std::int64_t node);

// A group's links. `intra` and `inter` are those of the device.
struct GroupLinks {
  GroupTopology topology;
  hardware::Link intra;
  hardware::Link inter;
};
// Throws Error where a group spans nodes and the device has no link between them.
[[nodiscard]] GroupLinks group_links(const hardware::Cluster& cluster, const plan::Plan& plan,
                                     plan::Axis axis, std::int64_t kv_heads);

// Bytes per second at which a ring of the group runs. Inside a node the link's sustained rate;
// across nodes the slower of that and of the ports its members drive together: r ranks of one node
// send r pieces at once.
[[nodiscard]] double ring_bytes_per_second(const GroupLinks& links);

// Seconds before the first byte of a reduce-scatter or all-gather arrives everywhere:
// start inside a node + hops inside nodes + [nodes > 1] start between them + hops over nodes.
[[nodiscard]] double ring_start_seconds(const GroupLinks& links);

// Seconds of `messages` equal collectives that carry `payload_bytes` together (collectives.h says
// what the payload of each kind is). An all-reduce starts as two rings or as a tree, whichever is
// quicker; an all-to-all uses both kinds of link at once; a ring exchange and a send use one port.
[[nodiscard]] double collective_seconds(plan::Collective kind, double payload_bytes,
                                        const GroupLinks& links, double messages = 1);

// Of an exchange of tokens of which each goes to `copies` experts that stand anywhere in the group:
// between nodes travels one copy for each node that has one of them, N (1 - (1 - 1/N)^copies) of N
// nodes on average, and is multiplied there. `payload_bytes` holds all copies.
[[nodiscard]] double routed_exchange_seconds(double payload_bytes, double copies,
                                             const GroupLinks& links);

}  // namespace fourhold::predict

#include "fourhold/predict/topology.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/predict/collectives.h"

namespace fourhold::predict {
namespace {

using plan::Collective;

// A level of a tree costs this many hops of a ring (fitted; data/hardware/SOURCES.md), and as one
// message between two nodes no more than the start of one.
constexpr double kTreeLevelHops = 2.5;

double all_reduce_start_seconds(const GroupLinks& links) {
  const double rings = 2 * ring_start_seconds(links);
  if (links.topology.nodes == 1) return rings;
  const double levels = std::log2(static_cast<double>(links.topology.nodes));
  const double level =
      std::min(kTreeLevelHops * links.inter.hop_seconds, links.inter.start_seconds);
  const double tree = links.intra.start_seconds + links.inter.start_seconds + 2 * levels * level;
  return std::min(rings, tree);
}

// One rank to its neighbour, over one port where the group leaves the node.
double single_port_bytes_per_second(const GroupLinks& links) {
  return links.topology.nodes > 1 ? links.inter.sustained_bytes_per_second()
                                  : links.intra.sustained_bytes_per_second();
}

// Pieces for ranks of the own node and of the others leave by different links at the same time.
// `inter_share` of what leaves the node is sent.
double all_to_all_seconds(double payload_bytes, const GroupLinks& links, double inter_share = 1) {
  const auto n = static_cast<double>(links.topology.ranks);
  const auto near = static_cast<double>(links.topology.ranks_in_node);
  double seconds = payload_bytes * (near - 1) / n / links.intra.sustained_bytes_per_second();
  if (links.topology.nodes > 1) {
    seconds = std::max(seconds, inter_share * payload_bytes * (n - near) / n /
                                    links.inter.sustained_bytes_per_second());
  }
  return seconds;
}

}  // namespace

GroupTopology group_topology(std::int64_t ranks, std::int64_t stride, std::int64_t node) {
  if (ranks == 1) return {};
  const std::int64_t span = checked_multiply(ranks, stride);
  if (span <= node) {
    if (node % span == 0) return {ranks, ranks, 1};
    return {ranks, ceil_divide(ranks, 2), 2};  // some group lies across a border
  }
  const std::int64_t in_node = std::max<std::int64_t>(1, node / stride);
  return {ranks, in_node, ceil_divide(ranks, in_node)};
}

GroupTopology group_topology(const plan::Plan& plan, plan::Axis axis, std::int64_t kv_heads,
                             std::int64_t node) {
  const std::vector<std::int64_t> group = plan::group_of(plan, axis, 0, kv_heads);
  const auto ranks = static_cast<std::int64_t>(group.size());
  if (plan.devices() <= node) return {ranks, ranks, 1};  // a run that one node holds
  return group_topology(ranks, ranks > 1 ? group[1] - group[0] : 1, node);
}

GroupLinks group_links(const hardware::Cluster& cluster, const plan::Plan& plan, plan::Axis axis,
                       std::int64_t kv_heads) {
  GroupLinks links{group_topology(plan, axis, kv_heads, cluster.devices_per_node),
                   cluster.device.intra_node, cluster.device.inter_node};
  if (links.topology.nodes > 1 && !links.inter.exists()) {
    throw Error("inter_node",
                fmt::format("is missing for {}, but {} ranks that communicate stand in {} nodes",
                            cluster.device.name, links.topology.ranks, links.topology.nodes),
                fmt::format("add the link between nodes to the device, or use at most {} devices",
                            cluster.devices_per_node));
  }
  // Alone in its node, a device has no use for a link inside.
  if (!links.intra.exists()) links.intra = links.inter;
  return links;
}

double ring_bytes_per_second(const GroupLinks& links) {
  const double inside = links.intra.sustained_bytes_per_second();
  if (links.topology.nodes == 1) return inside;
  const double ports =
      links.inter.sustained_bytes_per_second() * static_cast<double>(links.topology.ranks_in_node);
  return links.topology.ranks_in_node == 1 ? ports : std::min(inside, ports);
}

double ring_start_seconds(const GroupLinks& links) {
  const GroupTopology& group = links.topology;
  double seconds = links.intra.start_seconds +
                   links.intra.hop_seconds * static_cast<double>(group.ranks - group.nodes);
  if (group.nodes > 1) {
    seconds +=
        links.inter.start_seconds + links.inter.hop_seconds * static_cast<double>(group.nodes - 1);
  }
  return seconds;
}

double collective_seconds(Collective kind, double payload_bytes, const GroupLinks& links,
                          double messages) {
  if (links.topology.ranks == 1) return 0;
  const double wire = collective_cost(kind, payload_bytes, links.topology.ranks).wire_bytes;
  switch (kind) {
    case Collective::none:
    case Collective::copy:
      return 0;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return wire / ring_bytes_per_second(links) + messages * ring_start_seconds(links);
    case Collective::all_reduce:
    case Collective::reduce_scalars:
      return wire / ring_bytes_per_second(links) + messages * all_reduce_start_seconds(links);
    case Collective::all_to_all:
      return all_to_all_seconds(payload_bytes, links) + messages * ring_start_seconds(links);
    case Collective::ring: {
      const double steps = static_cast<double>(links.topology.ranks - 1) * messages;
      return wire / single_port_bytes_per_second(links) + steps * links.intra.start_seconds;
    }
    case Collective::send_receive:
      return wire / single_port_bytes_per_second(links);
  }
  return 0;
}

double routed_exchange_seconds(double payload_bytes, double copies, const GroupLinks& links) {
  if (links.topology.ranks == 1) return 0;
  const auto nodes = static_cast<double>(links.topology.nodes);
  const double reached = nodes * (1 - std::pow(1 - 1 / nodes, copies));
  return all_to_all_seconds(payload_bytes, links, std::min(1.0, reached / copies)) +
         ring_start_seconds(links);
}

}  // namespace fourhold::predict

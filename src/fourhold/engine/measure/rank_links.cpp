#include "fourhold/engine/measure/rank_links.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"

namespace fourhold::engine {
namespace {

// Peak and share, so that their product is what collectives sustain: single messages may be slower
// than many at once.
void set_rate(hardware::Link& link, double single, double sustained) {
  link.bytes_per_second = std::max(single, sustained);
  link.share = sustained / link.bytes_per_second;
}

}  // namespace

hardware::Link node_link(const RankRates& rates) {
  hardware::Link link;
  if (rates.node.ranks == 1) return link;
  link.name = "messages in a node";
  set_rate(link, rates.near.bytes_per_second, rates.node.bytes_per_second);
  link.latency_seconds = rates.near.latency_seconds;
  link.hop_seconds = rates.near.latency_seconds;
  const auto hops = static_cast<double>(rates.node.ranks - 1);
  link.start_seconds = std::max(0.0, rates.node.start_seconds - hops * link.hop_seconds);
  return link;
}

hardware::Link network_link(const RankRates& rates) {
  hardware::Link link;
  if (rates.nodes == 1) return link;
  link.name = "messages between nodes";
  const auto in_node = static_cast<double>(rates.node_ranks);
  // A ring of all ranks crosses each node's ports once, and r ranks share them.
  set_rate(link, rates.far.bytes_per_second / in_node, rates.all.bytes_per_second / in_node);
  link.latency_seconds = rates.far.latency_seconds;
  link.hop_seconds = rates.far.latency_seconds;
  const hardware::Link inside = node_link(rates);
  const auto near_hops = static_cast<double>(rates.all.ranks - rates.nodes);
  const auto far_hops = static_cast<double>(rates.nodes - 1);
  // Alone in its node, a rank has no link inside, and the one between nodes takes its place there.
  const double parts = inside.exists() ? 1 : 2;
  const double inside_seconds =
      inside.exists() ? inside.start_seconds + near_hops * inside.hop_seconds : 0;
  link.start_seconds = std::max(
      0.0, (rates.all.start_seconds - inside_seconds - far_hops * link.hop_seconds) / parts);
  return link;
}

void set_links(hardware::Device& device, const RankRates& rates, const std::string& library) {
  device.devices_per_node = rates.node_ranks;
  device.intra_node = node_link(rates);
  device.inter_node = network_link(rates);
  const std::string how = fmt::format(
      "measured by fourhold over {}: messages of rank 0 with each other rank, and "
      "reduce-scatters of {} in {}",
      library, counted(rates.nodes * rates.node_ranks, "rank"), counted(rates.nodes, "node"));
  device.sources.emplace_back("devices_per_node", "ranks of a node when this was measured");
  if (device.intra_node.exists()) device.sources.emplace_back("intra_node", how);
  if (device.inter_node.exists()) device.sources.emplace_back("inter_node", how);
}

}  // namespace fourhold::engine

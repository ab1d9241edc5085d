// Messages that are under way while the rank computes: rings, and tensors between stages.
#include <algorithm>
#include <cassert>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/communicator/message_tags.h"

namespace fourhold::engine {
namespace {

using plan::Collective;

int send_tag(int tag) {
  assert(tag >= 0 && tag < kSendTags && "tags are few enough for every MPI");
  return kFirstSendTag + tag;
}

}  // namespace

void Collectives::start_ring(const Group& group, std::span<const std::byte> out,
                             std::span<std::byte> in) {
  post_ring(group, out, in, 1);
}

void Collectives::join_ring(const Group& group, std::span<const std::byte> out,
                            std::span<std::byte> in) {
  post_ring(group, out, in, 0);
}

void Collectives::post_ring(const Group& group, std::span<const std::byte> out,
                            std::span<std::byte> in, std::int64_t steps) {
  assert(ring_.size() <= 2 && "a step of a ring and what joins it are under way");
  if (group.size() == 1) return;
  const auto rank = [&](int place) {
    return group.ranks[static_cast<std::size_t>(place % group.size())];
  };
  ring_.push_back(
      communicator_.receive(rank(group.place + group.size() - 1), tag_of(Collective::ring), in));
  ring_.push_back(communicator_.send(rank(group.place + 1), tag_of(Collective::ring), out));
  count(Collective::ring, steps, static_cast<std::int64_t>(out.size()));
}

void Collectives::finish_ring() {
  communicator_.wait(ring_);
  ring_.clear();
}

void Collectives::send(int to, int tag, const Tensor& tensor) {
  const auto same_tag = [tag](const auto& sent) { return sent.first == tag; };
  assert(std::none_of(sends_.begin(), sends_.end(), same_tag) && "a tag is sent once at a time");
  static_cast<void>(same_tag);
  const std::int64_t bytes = tensor.bytes();
  sends_.emplace_back(
      tag, communicator_.send(to, send_tag(tag), {tensor.data, static_cast<std::size_t>(bytes)}));
  count(Collective::send_receive, 1, bytes);
}

void Collectives::receive(int from, int tag, const Tensor& tensor) {
  const Message message = communicator_.receive(
      from, send_tag(tag), {tensor.data, static_cast<std::size_t>(tensor.bytes())});
  communicator_.wait({&message, 1});
}

void Collectives::finish_send(int tag) {
  const auto sent = std::find_if(sends_.begin(), sends_.end(),
                                 [tag](const auto& each) { return each.first == tag; });
  if (sent == sends_.end()) return;
  communicator_.wait({&sent->second, 1});
  sends_.erase(sent);
}

}  // namespace fourhold::engine

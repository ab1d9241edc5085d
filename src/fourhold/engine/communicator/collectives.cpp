#include "fourhold/engine/communicator/collectives.h"

#include <cassert>
#include <cstring>

#include "fourhold/engine/communicator/exchange.h"
#include "fourhold/engine/communicator/message_tags.h"
#include "fourhold/engine/threads/parallel.h"
#include "fourhold/plan/parameter_part.h"

namespace fourhold::engine {
namespace {

using plan::Collective;
using plan::Piece;
using plan::piece_of;

std::int64_t element_bytes(DType dtype) {
  assert(info(dtype).bits >= 8 && "a piece is of whole bytes");
  return bytes_of(1, dtype);
}

// Elements [piece.begin, piece.end) of a tensor.
Tensor part_of(const Tensor& whole, const Piece& piece) {
  return {whole.data + piece.begin * element_bytes(whole.dtype), whole.dtype,
          Dims{piece.elements()}};
}

std::span<std::byte> bytes_in(const Tensor& tensor) {
  return {tensor.data, static_cast<std::size_t>(tensor.bytes())};
}

}  // namespace

std::int64_t Traffic::bytes() const {
  std::int64_t sum = 0;
  for (const Count& count : of_kind) sum += count.bytes;
  return sum;
}

Collectives::Collectives(Communicator& communicator, std::span<std::byte> buffer, int threads)
    : communicator_(communicator),
      buffer_(buffer),
      threads_(threads),
      exchange_(communicator.size()) {
  messages_.reserve(2 * static_cast<std::size_t>(communicator.size()));
  ring_.reserve(4);
}

// Messages are under way here only when the rank fails between a start and its finish.
Collectives::~Collectives() {
  if (!gathers_.empty() || !ring_.empty() || !sends_.empty()) communicator_.withdraw();
}

void Collectives::count(Collective kind, std::int64_t steps, std::int64_t bytes) {
  Traffic::Count& count = traffic_.of(kind);
  ++count.calls;
  count.steps += steps;
  count.bytes += bytes;
}

std::int64_t Collectives::post_gather(Collective kind, const Group& group,
                                      std::span<std::byte> whole, std::int64_t item_bytes,
                                      std::vector<Message>& messages) {
  const std::int64_t items = static_cast<std::int64_t>(whole.size()) / item_bytes;
  const auto piece = [&](int member) {
    const Piece range = piece_of(items, group.size(), member);
    return whole.subspan(static_cast<std::size_t>(range.begin * item_bytes),
                         static_cast<std::size_t>(range.elements() * item_bytes));
  };
  const std::span<const std::byte> own = piece(group.place);
  std::int64_t sent_bytes = 0;
  for (int step = 1; step < group.size(); ++step) {
    const int from = (group.place + group.size() - step) % group.size();
    if (piece(from).empty()) continue;
    messages.push_back(communicator_.receive(group.ranks[static_cast<std::size_t>(from)],
                                             tag_of(kind), piece(from)));
  }
  for (int step = 1; step < group.size() && !own.empty(); ++step) {
    const int to = (group.place + step) % group.size();
    messages.push_back(
        communicator_.send(group.ranks[static_cast<std::size_t>(to)], tag_of(kind), own));
    sent_bytes += static_cast<std::int64_t>(own.size());
  }
  return sent_bytes;
}

std::int64_t Collectives::gather_pieces(Collective kind, const Group& group,
                                        std::span<std::byte> whole, std::int64_t item_bytes) {
  messages_.clear();
  const std::int64_t bytes = post_gather(kind, group, whole, item_bytes, messages_);
  communicator_.wait(messages_);
  return bytes;
}

void Collectives::copy_piece(const Group& group, const Tensor& own, const Tensor& whole) const {
  assert(own.dtype == whole.dtype && "a gather changes no type");
  const Tensor piece = part_of(whole, piece_of(whole.elements(), group.size(), group.place));
  assert(own.elements() >= piece.elements() && "the rank has its piece");
  if (own.data == piece.data) return;
  parallel_for(piece.bytes(), threads_, [&](const Share& share) {
    std::memcpy(piece.data + share.begin, own.data + share.begin,
                static_cast<std::size_t>(share.end - share.begin));
  });
}

void Collectives::all_gather(const Group& group, const Tensor& whole) {
  if (group.size() == 1) return;
  const std::int64_t bytes =
      gather_pieces(Collective::all_gather, group, bytes_in(whole), element_bytes(whole.dtype));
  count(Collective::all_gather, group.size() - 1, bytes);
}

void Collectives::all_gather(const Group& group, const Tensor& own, const Tensor& whole) {
  copy_piece(group, own, whole);
  all_gather(group, whole);
}

void Collectives::start_all_gather(const Group& group, const Tensor& own, const Tensor& whole) {
  copy_piece(group, own, whole);
  if (group.size() == 1) return;
  const std::int64_t bytes = post_gather(Collective::all_gather, group, bytes_in(whole),
                                         element_bytes(whole.dtype), gathers_);
  count(Collective::all_gather, group.size() - 1, bytes);
}

void Collectives::finish_gathers() {
  communicator_.wait(gathers_);
  gathers_.clear();
}

void Collectives::advance() {
  if (!gathers_.empty()) communicator_.advance();
}

std::int64_t Collectives::sum_pieces(Collective kind, const Group& group, const Tensor& whole,
                                     const Tensor& own, Sum sum) {
  const Piece piece = piece_of(whole.elements(), group.size(), group.place);
  assert(own.elements() >= piece.elements() && "the piece has a place");
  const std::int64_t to_bytes = element_bytes(own.dtype);
  const auto combine = [&](std::int64_t first, std::int64_t elements,
                           std::span<const std::byte* const> sources) {
    add_sources(
        {sources, whole.dtype, own.data + (first - piece.begin) * to_bytes, own.dtype, elements},
        sum, threads_);
  };
  Exchange exchange(communicator_, exchange_, buffer_, group,
                    {bytes_in(whole), element_bytes(whole.dtype), kind});
  exchange.run(combine);
  return exchange.sent_bytes();
}

void Collectives::reduce_scatter(const Group& group, const Tensor& whole, const Tensor& own,
                                 Sum sum) {
  const bool in_place = own.data == whole.data && own.dtype == whole.dtype;
  if (group.size() == 1 && in_place && sum == Sum::replace) return;
  const std::int64_t bytes = sum_pieces(Collective::reduce_scatter, group, whole, own, sum);
  if (group.size() > 1) count(Collective::reduce_scatter, group.size() - 1, bytes);
}

void Collectives::all_reduce(const Group& group, const Tensor& whole) {
  if (group.size() == 1) return;
  const Tensor own = part_of(whole, piece_of(whole.elements(), group.size(), group.place));
  constexpr Collective kKind = Collective::all_reduce;
  const std::int64_t bytes =
      sum_pieces(kKind, group, whole, own, Sum::replace) +
      gather_pieces(kKind, group, bytes_in(whole), element_bytes(whole.dtype));
  const std::int64_t steps = group.size() - 1;
  count(kKind, 2 * steps, bytes);
}

}  // namespace fourhold::engine

// Collectives by direct exchange in a fixed order: piece j goes to its owner j, who sums in fp32 in
// the order of ranks and rounds once (DESIGN: (n - 1) / n of the bytes in n - 1 steps). The same
// bits for every implementation of messages, run and number of threads.
//
// Long tensors travel in chunks of at most kExchangeChunkBytes (plan/exchange_buffer.h), so that
// summing overlaps with what is under way and the buffer stays small.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fourhold/engine/communicator/communicator.h"
#include "fourhold/engine/communicator/exchange_messages.h"
#include "fourhold/engine/communicator/sum_kernel.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/plan/sharding.h"

namespace fourhold::engine {

// Ranks that act together, ascending, and the place of this one among them.
struct Group {
  std::vector<int> ranks;
  int place = 0;
  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
};

// Sent by this rank, by kind of collective.
struct Traffic {
  static constexpr std::size_t kKinds = 9;  // of plan::Collective
  struct Count {
    std::int64_t calls = 0;
    std::int64_t steps = 0;
    std::int64_t bytes = 0;
  };
  std::array<Count, kKinds> of_kind{};
  [[nodiscard]] std::int64_t bytes() const;
  [[nodiscard]] Count& of(plan::Collective kind) { return of_kind[static_cast<std::size_t>(kind)]; }
};

class Collectives {
 public:
  // `buffer` is where pieces of other ranks arrive before they are summed: at least
  // plan::exchange_buffer_bytes of the largest group, or what that is for the largest piece where
  // that is smaller than a chunk. `threads` sum. All tensors outlive this, so that a rank that
  // fails can take them back from the others before they go.
  Collectives(Communicator& communicator, std::span<std::byte> buffer, int threads);
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;
  ~Collectives();

  // Pieces are plan::piece_of(elements, group size, member) of the flat tensor; fp32 or bf16 where
  // they are summed. A group of one sends and counts nothing; what stands in two places is copied.

  // Every piece of `whole` becomes what its owner has in it. Any type.
  void all_gather(const Group& group, const Tensor& whole);
  // The same where this rank's piece stands elsewhere; `own` may be longer than the piece.
  void all_gather(const Group& group, const Tensor& own, const Tensor& whole);
  // The same, not waited for until finish_gathers(): what comes must not be touched until then, and
  // this rank's piece of `whole` must stay as it is. Any number may be under way.
  void start_all_gather(const Group& group, const Tensor& own, const Tensor& whole);
  void finish_gathers();
  // Between a start and its finish, from time to time: see Communicator::advance().
  void advance();
  // `own` becomes this rank's piece of the sum of all `whole`. It may be that piece of `whole`
  // itself, may be longer than the piece, and may have another type than `whole`. Other pieces of
  // `whole` stay as they are.
  void reduce_scatter(const Group& group, const Tensor& whole, const Tensor& own, Sum sum);
  // A reduce-scatter in place and an all-gather.
  void all_reduce(const Group& group, const Tensor& whole);

  // Numbers that each rank has one of, summed in the order of ranks. Counted as all_reduce.
  [[nodiscard]] double sum(const Group& group, double value);
  [[nodiscard]] std::int64_t sum(const Group& group, std::int64_t value);

  // fp32 [rows, 3] of a loss over a split vocabulary (cross_entropy_statistics): rows become what
  // all ranks' columns together have: the largest logit, the sum of exp(logit - largest), the
  // target's logit. Counted as reduce_scalars.
  void merge_statistics(const Group& group, const Tensor& statistics);

  // One step of a ring: bytes go to the next member, those of the one before come. Not waited for
  // until finish_ring().
  void start_ring(const Group& group, std::span<const std::byte> out, std::span<std::byte> in);
  // The same beside a step, for what goes another way round the members: its bytes are of that
  // step. `group` is that way, in any order. Ranks start and join in one order.
  void join_ring(const Group& group, std::span<const std::byte> out, std::span<std::byte> in);
  void finish_ring();

  // Between stages. send() returns at once: the bytes must stay as they are until finish_send() of
  // the tag, 0 to 30000. A tag has one message under way.
  void send(int to, int tag, const Tensor& tensor);
  void receive(int from, int tag, const Tensor& tensor);
  void finish_send(int tag);

  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

 private:
  // What a collective of that kind is made of; both return the bytes sent.
  std::int64_t sum_pieces(plan::Collective kind, const Group& group, const Tensor& whole,
                          const Tensor& own, Sum sum);
  std::int64_t gather_pieces(plan::Collective kind, const Group& group, std::span<std::byte> whole,
                             std::int64_t item_bytes);
  // Adds to `messages`.
  std::int64_t post_gather(plan::Collective kind, const Group& group, std::span<std::byte> whole,
                           std::int64_t item_bytes, std::vector<Message>& messages);
  // This rank's piece of `whole` becomes what stands in `own`.
  void copy_piece(const Group& group, const Tensor& own, const Tensor& whole) const;
  template <typename T>
  T sum_of(const Group& group, T value);
  void post_ring(const Group& group, std::span<const std::byte> out, std::span<std::byte> in,
                 std::int64_t steps);
  void count(plan::Collective kind, std::int64_t steps, std::int64_t bytes);

  Communicator& communicator_;
  std::span<std::byte> buffer_;
  int threads_;
  Traffic traffic_;
  std::vector<Message> messages_;  // of one gather that is waited for
  std::vector<Message> gathers_;   // of those that are not yet
  ExchangeMessages exchange_;
  std::vector<Message> ring_;
  std::vector<std::pair<int, Message>> sends_;  // tag, message: at most one of each tag
};

}  // namespace fourhold::engine

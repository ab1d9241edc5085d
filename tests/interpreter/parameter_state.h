// Weights, gradients and optimizer of one rank: where each lies, and how it moves.
//
// ZeRO splits a local tensor, flat, into equal pieces over its sharding group. What the plan
// offloads lies in a host store and passes through the device at the program's own steps.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fourhold/plan/expand.h"
#include "tests/interpreter/call.h"
#include "tests/interpreter/parameters.h"

namespace fourhold::interpreter {

class ParameterState {
 public:
  using Flat = std::vector<double>;

  ParameterState(const Setting& setting, const plan::ProgramBlocks& blocks,
                 const plan::Program& program, std::int64_t rank, Door& door,
                 const ParameterValues& values);

  // The whole local weight. Throws ProgramFault outside gather .. release where blocks are
  // gathered.
  [[nodiscard]] const Flat& weight(const plan::BlockInstance& at, std::int16_t parameter) const;
  void add_gradient(const plan::BlockInstance& at, std::int16_t parameter, const Flat& gradient);

  // One piece of state work; the names are plan::Work's.
  void gather_weights(const plan::BlockInstance& at);
  void release_weights(const plan::BlockInstance& at);
  void reduce_gradients(const plan::BlockInstance& at);
  void sum_replicas(const plan::BlockInstance& at);
  void sum_tied(const plan::BlockInstance& at);
  void reduce_all(const plan::BlockInstance& at);
  void gradient_norm();
  void clip();
  void optimize(const plan::BlockInstance& at);
  void gather_updated(const plan::BlockInstance& at);

  // A part of a whole parameter, as one rank holds it at the end: elements[i] is where values[i]
  // stands.
  struct Piece {
    ParameterKey key;
    std::vector<std::int64_t> elements;
    Flat values;
  };
  [[nodiscard]] std::vector<Piece> gradients() const;  // summed, as the norm saw them
  [[nodiscard]] std::vector<Piece> weights() const;    // after the step
  [[nodiscard]] double norm() const { return norm_; }
  // Throws ProgramFault when weights or gradients of a block lie about that should be gone.
  void check_at_rest() const;

 private:
  struct Slot {
    ParameterKey key;
    const plan::LocalParameter* parameter = nullptr;
    std::vector<std::int64_t> elements;  // of the local tensor, in the whole one
    Group sharding;                      // ranks that hold the same tensor
    bool owned = true;  // false: the embedding's storage, used by a head on the same rank
    [[nodiscard]] bool trained() const { return parameter->use.trainable; }
  };
  // What one memory holds, by parameter.
  struct Store {
    std::map<ParameterKey, Flat> weights;
    std::map<ParameterKey, Flat> masters;
    std::map<ParameterKey, Flat> gradients;
  };
  using InstanceKey = std::pair<std::int16_t, std::int32_t>;
  struct Range {
    std::size_t begin = 0, end = 0;
  };

  [[nodiscard]] const std::vector<Slot>& slots(const plan::BlockInstance& at) const {
    return slots_.at({at.block, at.layer});
  }
  [[nodiscard]] Range piece_of(const Slot& slot, std::size_t member) const;
  [[nodiscard]] Range own_piece(const Slot& slot) const;
  [[nodiscard]] bool sharded() const { return setting_.plan.zero >= 1; }
  [[nodiscard]] Store& weight_store();
  [[nodiscard]] Store& gradient_store();
  [[nodiscard]] Store& master_store();
  // Sum of a vector over a group; and of a whole local gradient over its sharding group, of which
  // ZeRO keeps the own piece.
  [[nodiscard]] Flat sum_over(const Group& group, const Slot& slot, const Flat& own);
  [[nodiscard]] Flat reduced(const Slot& slot, const Flat& whole);
  [[nodiscard]] Flat gathered(const Slot& slot, const Flat& piece);
  [[nodiscard]] bool counts_in_norm(const Slot& slot) const;

  const Setting& setting_;
  const plan::ProgramBlocks& blocks_;
  const plan::StateMotion motion_;
  std::int64_t rank_;
  Door& door_;
  std::map<InstanceKey, std::vector<Slot>> slots_;
  Store device_;
  Store host_;
  std::map<InstanceKey, std::vector<Flat>> gathered_;             // by parameter
  std::map<InstanceKey, std::map<std::int16_t, Flat>> of_block_;  // gradients not yet reduced
  std::map<ParameterKey, Flat> before_clip_;
  double norm_ = 0;
  double factor_ = 1;
};

}  // namespace fourhold::interpreter

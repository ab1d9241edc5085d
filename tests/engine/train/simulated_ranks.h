// The tensors of every rank of a plan without the runs: what a rank holds and owns of each
// parameter by the plan's rules, in memory that begins as garbage.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fourhold/engine/executor/executor.h"
#include "fourhold/engine/train/run_weights.h"
#include "fourhold/plan/program.h"

namespace fourhold::engine::testing {

// A barrier of threads that throws in all of them when one has failed.
class TestBarrier {
 public:
  explicit TestBarrier(int ranks) : ranks_(ranks) {}

  void wait() {
    std::unique_lock lock(mutex_);
    const int round = round_;
    if (++waiting_ == ranks_) {
      waiting_ = 0;
      ++round_;
      moved_.notify_all();
    }
    moved_.wait(lock, [&] { return round_ != round || failed_; });
    if (failed_) throw std::runtime_error("another rank has failed");
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    moved_.notify_all();
  }

 private:
  int ranks_;
  int waiting_ = 0;
  int round_ = 0;
  bool failed_ = false;
  std::mutex mutex_;
  std::condition_variable moved_;
};

// Runs body(rank, barrier) for each rank in a thread of its own; the first Error of a rank that did
// not merely hear of another's.
inline std::optional<std::string> on_ranks(
    int ranks, const std::function<void(int rank, const std::function<void()>& barrier)>& body) {
  TestBarrier barrier(ranks);
  std::mutex mutex;
  std::optional<std::string> fault;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank, [&] { barrier.wait(); });
      } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        if (!fault) fault = error.where() + ": " + error.what();
        barrier.fail();
      } catch (const std::exception&) {
        barrier.fail();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return fault;
}

class SimulatedRank {
 public:
  SimulatedRank(const model::ModelConfig& config, const plan::Plan& plan,
                const plan::Profile& profile, std::int64_t rank)
      : plan_(plan), rank_(rank), stage_(plan::coordinates(plan, rank).pp) {
    const plan::ProgramBlocks blocks = plan::lower_blocks(config, plan, profile);
    const plan::Program program =
        plan::lower(config, blocks, plan, profile, stage_, plan::ProgramKind::train_step);
    bool table = false;
    for (const plan::Chunk& chunk : program.chunks) table = table || chunk.embedding;
    const auto add_block = [&](std::int16_t index, model::Block block, std::int32_t layer) {
      for (const plan::LocalParameter& local :
           blocks.blocks[static_cast<std::size_t>(index)].sharded.parameters) {
        const bool of_table = local.use.of_embedding && block == model::Block::head;
        if (of_table && table) continue;  // the same memory
        add(local, {of_table ? model::Block::embedding : block, layer, local.use.parameter.name},
            of_table);
      }
    };
    for (const plan::Chunk& chunk : program.chunks) {
      if (chunk.embedding) add_block(blocks.embedding, model::Block::embedding, -1);
      for (std::size_t i = 0; i < chunk.layer_blocks.size(); ++i) {
        add_block(chunk.layer_blocks[i], model::Block::layer,
                  static_cast<std::int32_t>(chunk.first_layer) + static_cast<std::int32_t>(i));
      }
      if (chunk.head) add_block(blocks.head, model::Block::head, -1);
    }
  }
  SimulatedRank(const SimulatedRank&) = delete;
  SimulatedRank& operator=(const SimulatedRank&) = delete;

  [[nodiscard]] const std::vector<ParameterTensors>& parameters() const { return parameters_; }

 private:
  Tensor garbage(std::int64_t elements, DType dtype) {
    auto& bytes =
        memory_.emplace_back(static_cast<std::size_t>(bytes_of(elements, dtype)), std::byte{0xab});
    return {bytes.data(), dtype, Dims{elements}};
  }

  void add(const plan::LocalParameter& local, const model::ParameterId& id, bool second_table) {
    const plan::Axis axis = local.expert ? plan::Axis::expert_sharding : plan::Axis::sharding;
    const std::vector<std::int64_t> group = plan::group_of(plan_, axis, rank_, 1);
    const auto ranks = static_cast<std::int64_t>(group.size());
    const std::int64_t member = std::find(group.begin(), group.end(), rank_) - group.begin();
    const std::int64_t whole = local.elements();  // with padding
    const std::int64_t longest = plan_.zero == 0 ? whole : (whole + ranks - 1) / ranks;

    ParameterTensors one;
    one.id = id;
    one.name = to_string(id);
    const plan::ParameterPart part = plan::local_part(plan_, rank_, local);
    one.owned = part;
    if (plan_.zero > 0) one.owned = plan::cut(part, plan::piece_of(whole, ranks, member));
    one.held = plan_.zero == 3 ? one.owned : part;
    const DType weight = plan_.precision == plan::Precision::fp32 ? DType::fp32 : DType::bf16;
    one.held_weight = garbage(plan_.zero == 3 ? longest : whole, weight);
    one.weight = one.held_weight;
    if (plan_.zero != 3) {
      one.weight.data += bytes_of(one.owned.begin, weight);
      one.weight.dims = {one.owned.elements()};
    }
    if (plan_.precision == plan::Precision::bf16) one.master = garbage(longest, DType::fp32);
    if (plan_.precision == plan::Precision::bf16_split ||
        plan_.precision == plan::Precision::bf16_kahan) {
      one.master = garbage(longest, DType::int16);
    }
    one.moment1 = garbage(longest, DType::fp32);
    if (plan_.optimizer == plan::Optimizer::adamw) one.moment2 = garbage(longest, DType::fp32);
    one.first_copy = !second_table && plan::is_first_copy(plan_, rank_, local);
    parameters_.push_back(std::move(one));
  }

  plan::Plan plan_;
  std::int64_t rank_;
  std::int64_t stage_;
  std::list<std::vector<std::byte>> memory_;
  std::vector<ParameterTensors> parameters_;
};

}  // namespace fourhold::engine::testing

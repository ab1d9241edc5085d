#include "fourhold/predict/shard_messages.h"

#include <algorithm>

namespace fourhold::predict {

using plan::Direction;
using plan::StepInstance;
using plan::WholeWeights;

bool ShardMessageNotes::stays(const StepInstance& at) const {
  return whole_ == WholeWeights::all ||
         (whole_ == WholeWeights::ends && !is(at, model::Block::layer));
}

void ShardMessageNotes::gather(const StepInstance& at, const std::vector<std::int32_t>& entries,
                               std::int64_t bytes, std::int64_t now) {
  Gathered& own = gathered_[{at.block, at.layer}];
  const bool here = own.copied;  // it stayed
  if (!here) own = {.first_weight = messages_.weights.size()};
  for (const std::int32_t entry : entries) {
    if (entry < 0) continue;
    // Of what stayed the second entry has no memory.
    messages_.weights.push_back({entry, now, now - 1});
    if (!here) ++own.weights;
  }
  if (here) return;
  const bool with_embedding =
      whole_ != WholeWeights::head && is(at, model::Block::head) && first_ != kNone;
  if (with_embedding) {
    messages_.gathers[static_cast<std::size_t>(first_)].bytes += bytes;
    return;
  }
  // The one before is copied first: gathering is one block ahead, and follows its beginning.
  own.message = static_cast<std::ptrdiff_t>(messages_.gathers.size());
  messages_.gathers.push_back({.bytes = bytes, .first_step = now + 1, .last_step = now + 1});
  if (is(at, model::Block::embedding) && at.direction == Direction::forward) first_ = own.message;
}

void ShardMessageNotes::begin(const StepInstance& at, std::int64_t now) {
  const auto found = gathered_.find({at.block, at.layer});
  if (found == gathered_.end()) return;
  Gathered& own = found->second;
  if (is(at, model::Block::embedding) && at.direction == Direction::forward) {
    embedding_begins_ = now;
  }
  if (!own.copied) {
    own.copied = true;
    const bool with_embedding =
        whole_ != WholeWeights::head && is(at, model::Block::head) && first_ != kNone;
    for (std::size_t i = 0; i < own.weights; ++i) {
      messages_.weights[own.first_weight + i].first_step = with_embedding ? embedding_begins_ : now;
    }
  }
  if (own.message == kNone) return;
  if (at.direction == Direction::backward) return end(own.message, now - 1);
  end(held_, now - 1);
  held_ = own.message;
  own.message = kNone;
}

void ShardMessageNotes::release(const StepInstance& at, std::int64_t now) {
  const auto found = gathered_.find({at.block, at.layer});
  if (found == gathered_.end()) return;
  Gathered& own = found->second;
  end(own.message, now);
  if (at.direction == Direction::forward && stays(at)) return;
  for (std::size_t i = 0; i < own.weights; ++i) {
    messages_.weights[own.first_weight + i].last_step = now;
  }
  gathered_.erase(found);
}

void ShardMessageNotes::reduce(const StepInstance& at, std::int64_t now) {
  std::int64_t bytes = 0;
  for (const plan::LocalParameter& parameter :
       blocks_.blocks[static_cast<std::size_t>(at.block)].sharded.parameters) {
    if (parameter.use.trainable) bytes += gradient_wire_bytes_ * parameter.elements();
  }
  if (reducing_) messages_.reductions.back().last_step = now - 1;
  reducing_ = bytes > 0;
  if (reducing_) messages_.reductions.push_back({bytes, now, now});
}

void ShardMessageNotes::end_micro_batch(std::int64_t now) {
  end(held_, now);
  first_ = kNone;
  if (reducing_) messages_.reductions.back().last_step = now;
  reducing_ = false;
}

void ShardMessageNotes::end(std::ptrdiff_t& message, std::int64_t last_step) {
  if (message == kNone) return;
  Extra& own = messages_.gathers[static_cast<std::size_t>(message)];
  own.last_step = std::max(own.first_step, last_step);
  message = kNone;
}

ShardMessages ShardMessageNotes::take() {
  const auto by_entry = [](const Lifetime& a, const Lifetime& b) { return a.entry < b.entry; };
  std::sort(messages_.weights.begin(), messages_.weights.end(), by_entry);
  std::sort(messages_.gradients.begin(), messages_.gradients.end());
  return std::move(messages_);
}

}  // namespace fourhold::predict

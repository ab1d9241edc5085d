#include "fourhold/predict/block_lifetimes.h"

#include <algorithm>
#include <limits>

namespace fourhold::predict {
namespace {

constexpr std::int32_t kUntouched = std::numeric_limits<std::int32_t>::max();

// First and last touch of every storage over a list of steps.
void touch(const plan::ProgramBlock& block, const std::vector<plan::Step>& steps,
           std::vector<Span>& spans) {
  spans.assign(block.tensors.size(), {kUntouched, -1});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto at = static_cast<std::int32_t>(i);
    for (const plan::Access& access : steps[i].accesses) {
      const std::int16_t owner = block.tensors[static_cast<std::size_t>(access.tensor)].storage;
      Span& span = spans[static_cast<std::size_t>(owner)];
      span.first = std::min(span.first, at);
      span.last = at;
    }
  }
}

Span* owner_span(const plan::ProgramBlock& block, std::vector<Span>& spans, std::int16_t tensor) {
  if (tensor < 0) return nullptr;
  return &spans[static_cast<std::size_t>(block.tensors[static_cast<std::size_t>(tensor)].storage)];
}

std::vector<GradientBirth> births_of(const std::vector<plan::Step>& steps,
                                     std::vector<std::uint8_t>& born) {
  std::vector<GradientBirth> births;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const std::int16_t parameter : steps[i].writes_gradients) {
      std::uint8_t& mark = born[static_cast<std::size_t>(parameter)];
      if (mark != 0) continue;
      mark = 1;
      births.push_back({parameter, static_cast<std::int32_t>(i)});
    }
  }
  return births;
}

std::vector<std::int64_t> live_bytes(const std::vector<StorageLife>& storages, std::size_t steps,
                                     Span StorageLife::*direction) {
  std::vector<std::int64_t> live(steps + 1, 0);
  for (const StorageLife& life : storages) {
    const Span& span = life.*direction;
    if (span.first > span.last) continue;
    live[static_cast<std::size_t>(span.first)] += life.bytes;
    live[static_cast<std::size_t>(span.last) + 1] -= life.bytes;
  }
  for (std::size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  live.resize(steps);
  return live;
}

std::int64_t tensor_bytes(const plan::ProgramBlock& block, std::int16_t tensor) {
  if (tensor < 0) return 0;
  const plan::ProgramTensor& t = block.tensors[static_cast<std::size_t>(tensor)];
  const plan::ProgramTensor& owner = block.tensors[static_cast<std::size_t>(t.storage)];
  return bytes_of(owner.shape.elements(), owner.dtype);
}

}  // namespace

BlockLifetimes block_lifetimes(const plan::ProgramBlock& block) {
  BlockLifetimes result;
  const auto last_forward = static_cast<std::int32_t>(block.forward.size()) - 1;
  const auto last_backward = static_cast<std::int32_t>(block.backward.size()) - 1;
  std::vector<Span> forward;
  std::vector<Span> backward;
  touch(block, block.forward, forward);
  touch(block, block.backward, backward);

  if (Span* input = owner_span(block, forward, block.input); input->last >= 0) input->first = 0;
  if (Span* output = owner_span(block, forward, block.output); output->last >= 0) {
    output->last = last_forward;
  }
  // What nothing in the block makes is loaded before it starts.
  for (std::size_t i = 0; i < block.tensors.size(); ++i) {
    if (block.tensors[i].category == ledger::Category::input && forward[i].last >= 0) {
      forward[i].first = 0;
    }
  }
  // A block without a backward (frozen, at the end of the chain) takes no gradient.
  if (Span* incoming = owner_span(block, backward, block.output_gradient);
      incoming != nullptr && !block.backward.empty()) {
    incoming->first = 0;
    incoming->last = std::max(incoming->last, 0);
  }
  if (Span* outgoing = owner_span(block, backward, block.input_gradient);
      outgoing != nullptr && outgoing->first != kUntouched) {
    outgoing->last = last_backward;
  }
  result.storages.reserve(block.tensors.size());
  for (std::size_t i = 0; i < block.tensors.size(); ++i) {
    const plan::ProgramTensor& tensor = block.tensors[i];
    if (tensor.storage != static_cast<std::int16_t>(i)) continue;
    Span& in_forward = forward[i];
    Span& in_backward = backward[i];
    if (in_forward.last < 0 && in_backward.last < 0) continue;
    if (tensor.kept) {
      in_forward.last = last_forward;
      in_backward.first = 0;
    }
    const std::int64_t bytes = bytes_of(tensor.shape.elements(), tensor.dtype);
    if (tensor.kept) result.kept_bytes += bytes;
    if (tensor.offloaded) result.offloaded_bytes += bytes;
    result.storages.push_back({static_cast<std::int16_t>(i), bytes, in_forward, in_backward});
  }
  result.forward.live_bytes =
      live_bytes(result.storages, block.forward.size(), &StorageLife::forward);
  result.backward.live_bytes =
      live_bytes(result.storages, block.backward.size(), &StorageLife::backward);
  std::vector<std::uint8_t> born(block.sharded.parameters.size(), 0);
  result.forward.births = births_of(block.forward, born);
  result.backward.births = births_of(block.backward, born);
  result.input_gradient_bytes = tensor_bytes(block, block.input_gradient);
  result.output_bytes = tensor_bytes(block, block.output);
  return result;
}

}  // namespace fourhold::predict

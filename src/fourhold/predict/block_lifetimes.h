// When each tensor of a block is alive, and how many bytes that makes at each of its steps.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/program.h"

namespace fourhold::predict {

// Steps of a block during which a storage is alive, both included; first > last = never.
struct Span {
  std::int32_t first = 0;
  std::int32_t last = -1;
  [[nodiscard]] bool alive_at(std::int32_t step) const { return first <= step && step <= last; }
};

struct StorageLife {
  std::int16_t tensor = -1;  // the owner
  std::int64_t bytes = 0;
  Span forward;
  Span backward;
};

// Bytes of gradients that come to life during a direction's steps, in the order of birth.
struct GradientBirth {
  std::int16_t parameter = -1;
  std::int32_t step = 0;
};

// One direction of a block: bytes alive at each step, without weights and gradients of parameters.
struct DirectionLife {
  std::vector<std::int64_t> live_bytes;  // per step
  std::vector<GradientBirth> births;     // parameters whose gradient is first written here
};

struct BlockLifetimes {
  std::vector<StorageLife> storages;
  DirectionLife forward;
  DirectionLife backward;
  std::int64_t kept_bytes = 0;            // from forward to backward, per layer and micro-batch
  std::int64_t offloaded_bytes = 0;       // in host memory meanwhile, the same
  std::int64_t input_gradient_bytes = 0;  // what backward hands on
  std::int64_t output_bytes = 0;          // what forward hands on
};

// Live bytes at a step are the bytes of every storage the step reads or writes and of those waiting
// for a later one: outputs come to life before inputs die. The block's input and the incoming
// gradient are alive from the first step, its output and the outgoing gradient to the last.
[[nodiscard]] BlockLifetimes block_lifetimes(const plan::ProgramBlock& block);

}  // namespace fourhold::predict

// Lifetimes shaped like those of a training step, with random sizes: what placements are judged on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "fourhold/ledger/ledger.h"

namespace fourhold::ledger {

// std::mt19937_64 is the same everywhere, the standard distributions are not.
class SizeSource {
 public:
  explicit SizeSource(std::uint64_t seed) : random_(seed) {}
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  std::mt19937_64 random_;
};

inline Entry alive(std::int64_t bytes, std::int64_t first, std::int64_t last) {
  Entry entry;
  entry.key = {.block = "step", .name = "tensor"};
  entry.bytes = Bytes(bytes);
  entry.first_step = first;
  entry.last_step = last;
  return entry;
}

// One micro-batch without recomputation: every layer saves the same `saved_per_layer` tensors going
// forward and frees them in reverse going backward; about every other operation has a transient
// that lives for one to three steps; the logits lie between the two halves.
inline std::vector<Entry> saved_and_freed(std::int64_t layers, std::int64_t saved_per_layer,
                                          SizeSource& sizes) {
  std::vector<Entry> entries;
  std::vector<std::int64_t> saved_bytes;
  for (std::int64_t i = 0; i < saved_per_layer; ++i) {
    saved_bytes.push_back(sizes.between(1, 1 << 20));
  }
  std::vector<std::size_t> saved;
  std::int64_t step = 0;
  const auto transient = [&] {
    if (sizes.between(0, 1) == 0) return;
    entries.push_back(alive(sizes.between(1, 1 << 21), step, step + sizes.between(0, 2)));
  };
  for (std::int64_t i = 0; i < layers * saved_per_layer; ++i, ++step) {
    saved.push_back(entries.size());
    entries.push_back(
        alive(saved_bytes[static_cast<std::size_t>(i % saved_per_layer)], step, step));
    transient();
  }
  for (int i = 0; i < 3; ++i, ++step) {
    entries.push_back(alive(sizes.between(1, 1 << 23), step, step + 2));
  }
  for (std::size_t i = saved.size(); i-- > 0; ++step) {
    entries[saved[i]].last_step = step;
    transient();
  }
  return entries;
}

// Full recomputation with gathered weights: a layer keeps only its input, runs again before its
// backward, and the weights of the next layer arrive while this one works.
inline std::vector<Entry> gathered_and_recomputed(std::int64_t layers, SizeSource& sizes) {
  constexpr std::int64_t kOperations = 8;
  std::vector<Entry> entries;
  std::int64_t step = kOperations;
  const auto transient = [&](std::int64_t most) {
    entries.push_back(alive(sizes.between(1, most), step, step + sizes.between(0, 2)));
  };
  std::vector<std::int64_t> weight_bytes;
  std::vector<std::size_t> inputs;
  const std::int64_t input_bytes = sizes.between(1 << 16, 1 << 20);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    weight_bytes.push_back(sizes.between(1 << 18, 1 << 22));
    entries.push_back(alive(weight_bytes.back(), step - kOperations, step + kOperations - 1));
    inputs.push_back(entries.size());
    entries.push_back(alive(input_bytes, step, step));
    for (std::int64_t i = 0; i < kOperations; ++i, ++step) transient(1 << 20);
  }
  for (std::size_t layer = inputs.size(); layer-- > 0;) {
    const std::int64_t begin = step;
    entries.push_back(alive(weight_bytes[layer], begin - kOperations, begin + 3 * kOperations - 1));
    entries.push_back(alive(weight_bytes[layer], begin + kOperations, begin + 4 * kOperations));
    for (std::int64_t i = 0; i < kOperations;
         ++i, ++step) {  // again forward: saved until its mirror
      entries.push_back(alive(sizes.between(1, 1 << 20), step, begin + 3 * kOperations - 1 - i));
      transient(1 << 19);
    }
    for (std::int64_t i = 0; i < 2 * kOperations; ++i, ++step) transient(1 << 20);
    entries[inputs[layer]].last_step = step - 1;
  }
  return entries;
}

// The first of `stages` pipeline stages under one-forward-one-backward: at most `stages`
// micro-batches in flight, freed in the order they came, each in reverse.
inline std::vector<Entry> pipelined(std::int64_t saved, std::int64_t stages,
                                    std::int64_t micro_batches, SizeSource& sizes) {
  std::vector<Entry> entries;
  std::vector<std::int64_t> saved_bytes;
  for (std::int64_t i = 0; i < saved; ++i) saved_bytes.push_back(sizes.between(1, 1 << 20));
  std::vector<std::vector<std::size_t>> in_flight;  // by micro-batch
  std::int64_t step = 0;
  const auto forward = [&] {
    in_flight.emplace_back();
    for (std::size_t i = 0; i < saved_bytes.size(); ++i, ++step) {
      in_flight.back().push_back(entries.size());
      entries.push_back(alive(saved_bytes[i], step, step));
      if (i % 3 == 0) entries.push_back(alive(sizes.between(1, 1 << 21), step, step + 1));
    }
  };
  const auto backward = [&](std::size_t micro_batch) {
    for (std::size_t i = saved_bytes.size(); i-- > 0; ++step) {
      entries[in_flight[micro_batch][i]].last_step = step;
      if (i % 2 == 0) entries.push_back(alive(saved_bytes[i], step, step + sizes.between(0, 2)));
    }
  };
  while (static_cast<std::int64_t>(in_flight.size()) < std::min(stages, micro_batches)) forward();
  for (std::int64_t done = 0; done < micro_batches; ++done) {
    backward(static_cast<std::size_t>(done));
    if (static_cast<std::int64_t>(in_flight.size()) < micro_batches) forward();
  }
  return entries;
}

}  // namespace fourhold::ledger

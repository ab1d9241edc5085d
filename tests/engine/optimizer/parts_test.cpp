// A step on any parts of a parameter, rows, columns and pieces of them, is the step on the whole.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "fourhold/engine/optimizer/update.h"
#include "fourhold/engine/tensor/counter_random.h"

namespace fourhold::engine {
namespace {

using plan::ParameterPart;
using plan::Precision;

constexpr std::int64_t kPadding = 3;

// The tensors of a shard as bytes, all of 4 bytes an element and with padding behind them.
struct Memory {
  std::vector<std::byte> weight, gradient, master, moment1, moment2;

  explicit Memory(std::int64_t elements) {
    for (auto* one : {&weight, &gradient, &master, &moment1, &moment2}) {
      one->assign(static_cast<std::size_t>(4 * (elements + kPadding)), std::byte{0});
    }
  }
};

bool has_master(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::bf16_split ||
         precision == Precision::bf16_kahan;
}

ParameterShard shard_of(Memory& memory, const ParameterPart& part, Precision precision) {
  const Dims dims{part.elements() + kPadding};
  const DType weight = precision == Precision::fp32 ? DType::fp32 : DType::bf16;
  const DType master = precision == Precision::bf16 ? DType::fp32 : DType::int16;
  ParameterShard shard{.name = "layer.0.down_weight",
                       .part = part,
                       .weight = {memory.weight.data(), weight, dims},
                       .gradient = {memory.gradient.data(), DType::fp32, dims},
                       .master = {memory.master.data(), master, dims},
                       .moment1 = {memory.moment1.data(), DType::fp32, dims},
                       .moment2 = {memory.moment2.data(), DType::fp32, dims}};
  if (!has_master(precision)) shard.master = {};
  return shard;
}

// Indices in the parameter of a part's elements, by counting.
std::vector<std::int64_t> indices_of(const ParameterPart& part) {
  std::vector<std::int64_t> all;
  for (std::int64_t run = 0; run < part.local.count; ++run) {
    for (std::int64_t i = 0; i < part.local.length; ++i) {
      all.push_back(part.local.begin + run * part.local.stride + i);
    }
  }
  return {all.begin() + part.begin, all.begin() + part.end};
}

// [outer, split, inner] with the middle dimension cut in two at a random place, each half cut again
// into pieces, as tp and ZeRO do.
std::vector<ParameterPart> random_parts(const Dims& shape) {
  const std::int64_t inner = shape[2];
  const auto at = *rc::gen::inRange<std::int64_t>(0, shape[1] + 1);
  const auto pieces = *rc::gen::inRange<std::int64_t>(1, 5);
  std::vector<ParameterPart> parts;
  for (const auto& [first, end] : {std::pair{std::int64_t{0}, at}, std::pair{at, shape[1]}}) {
    if (first == end) continue;
    ParameterPart part = plan::whole_part(shape);
    part.local = {first * inner, (end - first) * inner, shape[1] * inner, shape[0]};
    part.end = part.local.elements();
    for (std::int64_t i = 0; i < pieces; ++i) {
      parts.push_back(plan::cut(part, plan::piece_of(part.end, pieces, i)));
    }
  }
  return parts;
}

void copy(const std::vector<std::byte>& from, std::int64_t at, std::vector<std::byte>& to,
          std::int64_t index, std::int64_t bytes) {
  std::memcpy(to.data() + index * bytes, from.data() + at * bytes, static_cast<std::size_t>(bytes));
}

RC_GTEST_PROP(Parts, AStepOnAnyOfThemIsTheStepOnTheWhole, ()) {
  const Precision precision =
      *rc::gen::element(Precision::fp32, Precision::bf16, Precision::bf16_split,
                        Precision::bf16_kahan, Precision::bf16_sr, Precision::bf16_pure);
  const Dims shape{*rc::gen::inRange<std::int64_t>(1, 12), *rc::gen::inRange<std::int64_t>(1, 30),
                   *rc::gen::inRange<std::int64_t>(1, 40)};
  const std::int64_t elements = shape.elements();
  const auto threads = *rc::gen::inRange(1, 4);
  const CounterRandom random(3, "values");
  const auto value = [&](std::int64_t i) { return random.normal(static_cast<std::uint64_t>(i)); };

  const auto fill = [&](Memory& memory, const ParameterPart& part) {
    const std::vector<std::int64_t> indices = indices_of(part);
    std::vector<float> weights;
    auto* gradient = reinterpret_cast<float*>(memory.gradient.data());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      weights.push_back(0.02F * value(indices[i]));
      gradient[i] = 0.1F * value(indices[i] + elements);
    }
    const ParameterShard shard = shard_of(memory, part, precision);
    RC_ASSERT(set_weights(shard, weights.data(), precision) == 0);
  };
  const auto steps = [&](Memory& memory, const ParameterPart& part, int workers) {
    UpdateReport last;
    for (std::int64_t step = 1; step <= 2; ++step) {
      const StepFactors factors = step_factors({}, WeightDecay::decayed, step, 1e-3, 1);
      last = update(shard_of(memory, part, precision), factors, {precision, 9, step, workers},
                    Pass::write);
    }
    return last;
  };

  const ParameterPart all = plan::whole_part(shape);
  Memory whole(elements);
  fill(whole, all);
  const UpdateReport expected = steps(whole, all, 1);
  Memory joined(elements);
  UpdateReport report;
  for (const ParameterPart& part : random_parts(shape)) {
    Memory memory(part.elements());
    fill(memory, part);
    report += steps(memory, part, threads);
    const std::vector<std::int64_t> indices = indices_of(part);
    const ParameterShard shard = shard_of(memory, part, precision);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      copy(memory.weight, at, joined.weight, indices[i], bytes_of(1, shard.weight.dtype));
      if (has_master(precision)) {
        copy(memory.master, at, joined.master, indices[i], bytes_of(1, shard.master.dtype));
      }
      copy(memory.moment1, at, joined.moment1, indices[i], 4);
      copy(memory.moment2, at, joined.moment2, indices[i], 4);
    }
    for (std::int64_t i = 4 * part.elements(); i < 4 * (part.elements() + kPadding); ++i) {
      RC_ASSERT(memory.moment1[static_cast<std::size_t>(i)] == std::byte{0});
    }
  }
  RC_ASSERT(report.elements == expected.elements);
  RC_ASSERT(report.nonzero == expected.nonzero);
  RC_ASSERT(report.lost == expected.lost);
  RC_ASSERT(report.largest_weight == expected.largest_weight);
  RC_ASSERT(joined.weight == whole.weight);
  RC_ASSERT(joined.master == whole.master);
  RC_ASSERT(joined.moment1 == whole.moment1);
  RC_ASSERT(joined.moment2 == whole.moment2);
}

}  // namespace
}  // namespace fourhold::engine

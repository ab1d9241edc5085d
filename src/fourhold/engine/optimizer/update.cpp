#include "fourhold/engine/optimizer/update.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <mutex>
#include <span>

#include "fourhold/engine/optimizer/update_kernel.h"
#include "fourhold/engine/tensor/counter_random.h"
#include "fourhold/engine/tensor/split_float.h"
#include "fourhold/engine/threads/parallel.h"

namespace fourhold::engine {
namespace {

bool keeps_master(plan::Precision precision) {
  return precision == plan::Precision::bf16 || precision == plan::Precision::bf16_split ||
         precision == plan::Precision::bf16_kahan;
}

[[maybe_unused]] bool fits_master(const Tensor& master, plan::Precision precision,
                                  std::int64_t elements) {
  if (!keeps_master(precision)) return true;
  const DType dtype = precision == plan::Precision::bf16 ? DType::fp32 : DType::int16;
  return master.data != nullptr && master.dtype == dtype && master.elements() >= elements;
}

[[maybe_unused]] bool fits(const Tensor& tensor, DType dtype, std::int64_t elements) {
  return tensor.data != nullptr && tensor.dtype == dtype && tensor.elements() >= elements;
}

[[maybe_unused]] DType weight_dtype(plan::Precision precision) {
  return precision == plan::Precision::fp32 ? DType::fp32 : DType::bf16;
}

void check_shard([[maybe_unused]] const ParameterShard& shard,
                 [[maybe_unused]] plan::Precision precision,
                 [[maybe_unused]] plan::Optimizer optimizer) {
  [[maybe_unused]] const std::int64_t elements = shard.part.elements();
  assert(fits(shard.weight, weight_dtype(precision), elements));
  assert(fits(shard.gradient, DType::fp32, elements) ||
         (precision != plan::Precision::fp32 && fits(shard.gradient, DType::bf16, elements)));
  assert(fits_master(shard.master, precision, elements));
  assert(fits(shard.moment1, DType::fp32, elements));
  assert(optimizer != plan::Optimizer::adamw || fits(shard.moment2, DType::fp32, elements));
}

// The elements from `first` of a tensor that may have none.
std::byte* from(const Tensor& tensor, std::int64_t first) {
  return tensor.data == nullptr ? nullptr : tensor.data + bytes_of(first, tensor.dtype);
}

// What stochastic rounding draws for elements of a part, from `first` on: the parameter's own
// draws, wherever its elements are held.
void fill_draws(const CounterRandom& random, const plan::ParameterPart& part, std::int64_t first,
                std::span<std::uint32_t> draws) {
  for (std::size_t done = 0; done < draws.size();) {
    const plan::GlobalRun run =
        plan::run_at(part, part.begin + first + static_cast<std::int64_t>(done));
    const std::size_t count = std::min(draws.size() - done, static_cast<std::size_t>(run.elements));
    random.fill_uniform32(static_cast<std::uint64_t>(run.begin), draws.subspan(done, count));
    done += count;
  }
}

}  // namespace

UpdateReport& UpdateReport::operator+=(const UpdateReport& other) {
  elements += other.elements;
  nonzero += other.nonzero;
  lost += other.lost;
  nonfinite += other.nonfinite;
  largest_weight = std::max(largest_weight, other.largest_weight);
  largest_moment1 = std::max(largest_moment1, other.largest_moment1);
  return *this;
}

UpdateReport update(const ParameterShard& shard, const StepFactors& factors,
                    const UpdateOptions& options, Pass pass) {
  const std::int64_t elements = shard.part.elements();
  if (elements == 0) return {};
  check_shard(shard, options.precision, factors.optimizer);
  const UpdateKind kind{options.precision, shard.gradient.dtype == DType::fp32, pass};
  const CounterRandom random(options.seed, shard.name, static_cast<std::uint64_t>(options.step));
  const std::int64_t blocks = (elements + kUpdateBlock - 1) / kUpdateBlock;

  UpdateReport total;
  std::mutex joining;  // sums and maxima do not depend on the order
  parallel_for(blocks, options.threads, [&](const Share& share) {
    std::array<std::uint32_t, kUpdateBlock> draws;  // NOLINT: filled where it is read
    UpdateReport report;
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      const std::int64_t first = i * kUpdateBlock;
      const auto size = static_cast<std::size_t>(std::min(kUpdateBlock, elements - first));
      if (options.precision == plan::Precision::bf16_sr) {
        fill_draws(random, shard.part, first, {draws.data(), size});
      }
      update_block({.weight = from(shard.weight, first),
                    .gradient = from(shard.gradient, first),
                    .master = from(shard.master, first),
                    .moment1 = reinterpret_cast<float*>(from(shard.moment1, first)),
                    .moment2 = reinterpret_cast<float*>(from(shard.moment2, first)),
                    .random = draws.data(),
                    .elements = size},
                   kind, factors, report);
    }
    const std::lock_guard<std::mutex> lock(joining);
    total += report;
  });
  return total;
}

std::int64_t set_weights(const ParameterShard& shard, const float* values,
                         plan::Precision precision) {
  const std::int64_t elements = shard.part.elements();
  assert(fits(shard.weight, weight_dtype(precision), elements));
  assert(shard.master.data == nullptr || fits_master(shard.master, precision, elements));
  std::int64_t nonfinite = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
    const float value = values[i];
    if (precision == plan::Precision::fp32) {
      shard.weight.as<float>()[i] = value;
      if (!std::isfinite(value)) ++nonfinite;
      continue;
    }
    const bool away =
        precision == plan::Precision::bf16 || precision == plan::Precision::bf16_split;
    const Bf16 weight = away ? to_bf16_ties_away(value) : to_bf16(value);
    if (!std::isfinite(value) || !std::isfinite(to_float(weight))) ++nonfinite;
    shard.weight.as<Bf16>()[i] = weight;
    if (shard.master.data == nullptr) continue;
    if (precision == plan::Precision::bf16) {
      shard.master.as<float>()[i] = value;
    } else if (precision == plan::Precision::bf16_split) {
      shard.master.as<std::uint16_t>()[i] = split(value).low;
    } else if (precision == plan::Precision::bf16_kahan) {
      shard.master.as<std::uint16_t>()[i] = to_bf16(value - to_float(weight)).bits;
    }
  }
  return nonfinite;
}

}  // namespace fourhold::engine

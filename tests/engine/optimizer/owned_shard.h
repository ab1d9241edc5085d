// A parameter shard with the memory behind its views, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/engine/optimizer/update.h"
#include "fourhold/engine/tensor/bf16.h"
#include "fourhold/engine/tensor/split_float.h"

namespace fourhold::engine {

class OwnedShard {
 public:
  OwnedShard(plan::Precision precision, const std::vector<float>& weights,
             DType gradient_dtype = DType::fp32, std::int64_t offset = 0)
      : precision_(precision), count_(weights.size()), gradient_dtype_(gradient_dtype) {
    offset_ = offset;
    for (auto* buffer : {&weight_, &gradient_, &master_, &moment1_, &moment2_}) {
      buffer->assign(4 * count_, std::byte{0});
    }
    nonfinite_ = set_weights(view(), weights.data(), precision);
  }

  [[nodiscard]] ParameterShard view() { return slice(0, count_); }
  [[nodiscard]] ParameterShard slice(std::size_t begin, std::size_t end) {
    ParameterShard shard;
    shard.name = "layers.0.up_weight";
    const auto all = static_cast<std::int64_t>(count_);
    shard.part = plan::cut(
        plan::whole_part({offset_ + all}),
        {offset_ + static_cast<std::int64_t>(begin), offset_ + static_cast<std::int64_t>(end)});
    const bool fp32 = precision_ == plan::Precision::fp32;
    const bool full_master = precision_ == plan::Precision::bf16;
    const bool half_master =
        precision_ == plan::Precision::bf16_split || precision_ == plan::Precision::bf16_kahan;
    shard.weight = tensor(weight_, fp32 ? DType::fp32 : DType::bf16, begin, end);
    shard.gradient = tensor(gradient_, gradient_dtype_, begin, end);
    if (full_master) shard.master = tensor(master_, DType::fp32, begin, end);
    if (half_master) shard.master = tensor(master_, DType::int16, begin, end);
    shard.moment1 = tensor(moment1_, DType::fp32, begin, end);
    shard.moment2 = tensor(moment2_, DType::fp32, begin, end);
    return shard;
  }

  void set_gradient(const std::vector<float>& values) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (gradient_dtype_ == DType::fp32) {
        view().gradient.as<float>()[i] = values[i];
      } else {
        view().gradient.as<Bf16>()[i] = to_bf16(values[i]);
      }
    }
  }

  // What the model computes with.
  [[nodiscard]] float weight(std::size_t i) {
    return precision_ == plan::Precision::fp32 ? view().weight.as<float>()[i]
                                               : to_float(view().weight.as<Bf16>()[i]);
  }
  // What the optimizer knows of it.
  [[nodiscard]] double authoritative(std::size_t i) {
    if (precision_ == plan::Precision::bf16) return view().master.as<float>()[i];
    if (precision_ == plan::Precision::bf16_split) {
      return join({view().weight.as<Bf16>()[i], view().master.as<std::uint16_t>()[i]});
    }
    if (precision_ == plan::Precision::bf16_kahan) {
      return static_cast<double>(weight(i)) +
             static_cast<double>(to_float(Bf16{view().master.as<std::uint16_t>()[i]}));
    }
    return weight(i);
  }
  [[nodiscard]] float moment1(std::size_t i) { return view().moment1.as<float>()[i]; }
  [[nodiscard]] float moment2(std::size_t i) { return view().moment2.as<float>()[i]; }
  [[nodiscard]] std::int64_t nonfinite() const { return nonfinite_; }

  // Every byte of weight, master and moments.
  [[nodiscard]] std::vector<std::byte> state() const {
    std::vector<std::byte> all;
    for (const auto* buffer : {&weight_, &master_, &moment1_, &moment2_}) {
      all.insert(all.end(), buffer->begin(), buffer->end());
    }
    return all;
  }

 private:
  static Tensor tensor(std::vector<std::byte>& buffer, DType dtype, std::size_t begin,
                       std::size_t end) {
    return {buffer.data() + bytes_of(static_cast<std::int64_t>(begin), dtype), dtype,
            Dims{static_cast<std::int64_t>(end - begin)}};
  }

  plan::Precision precision_;
  std::size_t count_;
  DType gradient_dtype_;
  std::int64_t offset_ = 0;
  std::int64_t nonfinite_ = 0;
  std::vector<std::byte> weight_;
  std::vector<std::byte> gradient_;
  std::vector<std::byte> master_;
  std::vector<std::byte> moment1_;
  std::vector<std::byte> moment2_;
};

}  // namespace fourhold::engine

#include "fourhold/predict/rates.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/predict/rated_type.h"

namespace fourhold::predict {
namespace {

constexpr double kSplitSoftmaxBackward = 2.0 / 3;

double peak_of(const hardware::Device& device, DType compute) {
  const std::optional<DType> rated = rated_type(device, compute);
  if (!rated) {
    throw Error("peak_flops", fmt::format("of {} has no {} rate", device.name, to_string(compute)),
                "add it to the device file, or choose another precision or device");
  }
  return hardware::peak_flops(device, *rated);
}

// The newest kernel that both the framework calls and the device has a share for; where the device
// has only newer ones, the oldest of them.
double attention_share(const hardware::AttentionShares& shares, plan::AttentionKernel newest) {
  const std::array<double, 4> by_age{shares.flash_1, shares.triton, shares.flash_2, shares.flash_3};
  for (auto i = static_cast<std::size_t>(newest) + 1; i-- > 0;) {
    if (by_age[i] > 0) return by_age[i];
  }
  for (const double share : by_age) {
    if (share > 0) return share;
  }
  return shares.unfused;
}

// An element is read in 16 bits and written in 8, for the product as it is and transposed half of
// the time.
constexpr double kQuantisedBytes = 3;

struct LayerProducts {
  double flops_per_second = 0;
  double quantised_bytes_per_element = 0;
};

LayerProducts layer_products(const hardware::Device& device, const plan::ProfileTime& profile,
                             const hardware::SustainedShares& shares) {
  if (profile.products == plan::ProductFormat::compute) return {};
  const bool fp4 = profile.products == plan::ProductFormat::fp4;
  const double peak = fp4 ? device.peak_flops.fp4 : device.peak_flops.fp8;
  if (peak <= 0) {
    throw Error("products",
                fmt::format("in {}: {} has no such rate", fp4 ? "fp4" : "fp8", device.name),
                "use a profile whose products are in the compute type, or another device");
  }
  return {peak * shares.matmul * shares.low_precision * profile.matmul_rate,
          kQuantisedBytes * profile.quantisation_traffic};
}

double matmul_seconds(const StepWork& work, const Rates& rates) {
  const bool own_rate = work.layer_product && rates.layer_flops_per_second > 0;
  const double large =
      work.matmul_flops / (own_rate ? rates.layer_flops_per_second : rates.matmul_flops_per_second);
  if (rates.narrow_flops_per_second <= 0 || work.matmul_flops <= 0) return large;
  const double narrow = work.matmul_flops / rates.narrow_flops_per_second;
  const double place = (work.memory_bytes / work.matmul_flops - rates.matmul_bytes_per_flop) /
                       (rates.narrow_bytes_per_flop - rates.matmul_bytes_per_flop);
  return large + (narrow - large) * std::clamp(place, 0.0, 1.0);
}

}  // namespace

Rates rates_of(const hardware::Device& device, const plan::Profile& profile, DType compute) {
  const bool fp32 = compute == DType::fp32 && device.sustained_fp32.has_value();
  const hardware::SustainedShares& shares = fp32 ? *device.sustained_fp32 : device.sustained;
  if (device.memory_bandwidth_bytes_per_second <= 0) {
    throw Error("device", "has no memory bandwidth, so no time can be predicted on it",
                "name a device, or give a device file");
  }
  Rates rates;
  rates.peak_flops_per_second = peak_of(device, compute);
  const double peak = rates.peak_flops_per_second;
  rates.matmul_flops_per_second = peak * shares.matmul * profile.time.matmul_rate;
  const LayerProducts products = layer_products(device, profile.time, shares);
  rates.layer_flops_per_second = products.flops_per_second;
  rates.quantised_bytes_per_element = products.quantised_bytes_per_element;
  rates.narrow_flops_per_second = peak * shares.narrow_matmul * profile.time.matmul_rate;
  rates.matmul_bytes_per_flop = shares.matmul_bytes_per_flop;
  rates.narrow_bytes_per_flop = shares.narrow_bytes_per_flop;
  rates.score_flops_per_second = peak * shares.attention.unfused * profile.time.matmul_rate;
  rates.attention_flops_per_second =
      peak * attention_share(shares.attention, profile.time.attention_kernel) *
      profile.time.attention_rate;
  rates.attention_backward_flops_per_second =
      rates.attention_flops_per_second * shares.attention.backward;
  const double bandwidth = device.memory_bandwidth_bytes_per_second;
  const auto rate_of = [&](double share) {
    return bandwidth * (share > 0 ? share : shares.memory);
  };
  rates.memory_bytes_per_second = rate_of(0);
  rates.elementwise_bytes_per_second =
      rate_of(shares.elementwise) / profile.time.elementwise_traffic;
  rates.update_bytes_per_second = rate_of(shares.update);
  rates.kernel_start_seconds = shares.kernel_start_seconds;
  rates.host_seconds_per_operation = profile.time.host_seconds_per_operation;
  return rates;
}

double step_seconds(const StepWork& work, plan::Phase phase, const Rates& rates) {
  const double attention = phase == plan::Phase::backward
                               ? rates.attention_backward_flops_per_second
                               : rates.attention_flops_per_second;
  const double arithmetic = matmul_seconds(work, rates) +
                            work.score_flops / rates.score_flops_per_second +
                            work.fused_attention_flops / attention;
  const double memory = work.memory_bytes / (work.elementwise ? rates.elementwise_bytes_per_second
                                                              : rates.memory_bytes_per_second);
  // Backward of a softmax in pieces moves two thirds of what its forward moves beside the fused
  // one.
  const double split = phase == plan::Phase::backward ? kSplitSoftmaxBackward : 1;
  const double more_bytes = work.widening_bytes +
                            work.quantised_elements * rates.quantised_bytes_per_element +
                            split * work.softmax_scores * rates.split_softmax_bytes;
  return std::max(arithmetic, memory) + more_bytes / rates.elementwise_bytes_per_second +
         work.kernels * rates.kernel_start_seconds;
}

}  // namespace fourhold::predict

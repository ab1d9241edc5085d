#include "fourhold/predict/rates.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "fourhold/hardware/catalogue.h"

namespace fourhold::predict {
namespace {

hardware::Device device(const std::string& name) { return hardware::load_device(name).device; }

plan::Profile profile_with(plan::AttentionKernel kernel) {
  plan::Profile profile = plan::load_profile("standard");
  profile.time.attention_kernel = kernel;
  return profile;
}

double attention_share(const hardware::AttentionShares& shares, plan::AttentionKernel kernel) {
  hardware::Device machine = device("a100-sxm-80gb");
  machine.sustained.attention = shares;
  const Rates rates = rates_of(machine, profile_with(kernel), DType::bf16);
  return rates.attention_flops_per_second / rates.peak_flops_per_second;
}

TEST(Rates, AreSharesOfTheDensePeak) {
  hardware::Device a100 = device("a100-sxm-80gb");
  a100.sustained.matmul = 0.5;
  a100.sustained.memory = 0.75;
  const Rates rates = rates_of(a100, plan::load_profile("standard"), DType::bf16);
  EXPECT_DOUBLE_EQ(rates.peak_flops_per_second, 312e12);
  EXPECT_DOUBLE_EQ(rates.matmul_flops_per_second, 156e12);
  EXPECT_DOUBLE_EQ(rates.memory_bytes_per_second, 2039e9 * 0.75);
}

TEST(Rates, ADeviceMaySustainOthersInFp32AndOutsideProducts) {
  hardware::Device machine = device("cpu");
  machine.peak_flops.fp32 = 1e12;
  machine.memory_bandwidth_bytes_per_second = 100e9;
  machine.sustained.memory = 0.5;
  machine.sustained.update = 1.5;  // from caches
  machine.sustained.elementwise = 0.25;
  machine.sustained_fp32 = machine.sustained;
  machine.sustained_fp32->matmul = 0.75;
  machine.sustained_fp32->attention.flash_2 = 0.5;
  machine.sustained_fp32->attention.backward = 1.2;
  machine.sustained_fp32->elementwise = 0;  // not stated
  plan::Profile profile = plan::load_profile("fourhold");
  profile.time.elementwise_traffic = 2;
  const Rates wide = rates_of(machine, profile, DType::fp32);
  EXPECT_DOUBLE_EQ(wide.matmul_flops_per_second, 0.75e12);
  EXPECT_DOUBLE_EQ(wide.attention_flops_per_second, 0.5e12);
  EXPECT_DOUBLE_EQ(wide.attention_backward_flops_per_second, 0.6e12);
  EXPECT_DOUBLE_EQ(wide.elementwise_bytes_per_second, 25e9);  // as memory, moved twice
  EXPECT_DOUBLE_EQ(wide.update_bytes_per_second, 150e9);
  const Rates narrow = rates_of(machine, profile, DType::bf16);
  EXPECT_DOUBLE_EQ(narrow.matmul_flops_per_second, 114.7e12 * 0.5);  // of the file
  EXPECT_DOUBLE_EQ(narrow.elementwise_bytes_per_second, 12.5e9);
}

TEST(Rates, AttentionIsTheNewestKernelThatBothKnow) {
  using plan::AttentionKernel;
  const hardware::AttentionShares older{.flash_1 = 0.3, .flash_2 = 0.5};
  EXPECT_NEAR(attention_share(older, AttentionKernel::flash_1), 0.3, 1e-9);
  EXPECT_NEAR(attention_share(older, AttentionKernel::flash_2), 0.5, 1e-9);
  EXPECT_NEAR(attention_share(older, AttentionKernel::flash_3), 0.5, 1e-9);
  const hardware::AttentionShares newer{.triton = 0.2, .flash_2 = 0.35, .flash_3 = 0.6};
  EXPECT_NEAR(attention_share(newer, AttentionKernel::flash_3), 0.6, 1e-9);
  EXPECT_NEAR(attention_share(newer, AttentionKernel::flash_1), 0.2, 1e-9);
}

TEST(Rates, ProductsOfLayersMayHaveAFormatOfTheirOwn) {
  hardware::Device machine = device("b200");
  machine.sustained.matmul = 0.5;
  machine.sustained.low_precision = 0.8;
  machine.sustained.memory = 1;
  plan::Profile profile = plan::load_profile("standard");
  profile.time.elementwise_traffic = 1;
  profile.time.quantisation_traffic = 2;
  profile.time.products = plan::ProductFormat::fp8;
  Rates rates = rates_of(machine, profile, DType::bf16);
  EXPECT_DOUBLE_EQ(rates.layer_flops_per_second, 4500e12 * 0.5 * 0.8);
  EXPECT_DOUBLE_EQ(rates.matmul_flops_per_second, 2250e12 * 0.5);  // of the head
  EXPECT_DOUBLE_EQ(rates.quantised_bytes_per_element, 2 * (2 + 1));
  profile.time.products = plan::ProductFormat::fp4;
  rates = rates_of(machine, profile, DType::bf16);
  EXPECT_DOUBLE_EQ(rates.layer_flops_per_second, 9000e12 * 0.5 * 0.8);
  // 1.8 PFLOP at 1.8 PFLOP/s and 8e9 elements, 6 bytes each, at 8 TB/s.
  rates.kernel_start_seconds = 0;
  const StepWork work{.matmul_flops = 1.8e15, .layer_product = true, .quantised_elements = 8e9};
  profile.time.products = plan::ProductFormat::fp8;
  rates = rates_of(machine, profile, DType::bf16);
  rates.kernel_start_seconds = 0;
  EXPECT_NEAR(step_seconds(work, plan::Phase::forward, rates), 1 + 0.006, 1e-12);
  EXPECT_THROW(static_cast<void>(rates_of(device("a100-sxm-80gb"), profile, DType::bf16)), Error);
}

TEST(Rates, ASoftmaxInPiecesMovesMoreBytesOfEveryScore) {
  Rates rates;
  rates.matmul_flops_per_second = 1;
  rates.score_flops_per_second = 1;
  rates.attention_flops_per_second = 1;
  rates.attention_backward_flops_per_second = 1;
  rates.memory_bytes_per_second = 1e30;
  rates.elementwise_bytes_per_second = 2;
  rates.split_softmax_bytes = 18;
  StepWork work;
  work.softmax_scores = 10;
  EXPECT_DOUBLE_EQ(step_seconds(work, plan::Phase::forward, rates), 90);
  EXPECT_DOUBLE_EQ(step_seconds(work, plan::Phase::backward, rates), 60);  // 12 bytes
}

TEST(Rates, ADeviceWithoutBf16TrainsInFp16) {
  const Rates rates =
      rates_of(device("v100-sxm-32gb"), plan::load_profile("standard"), DType::bf16);
  EXPECT_DOUBLE_EQ(rates.peak_flops_per_second, 125e12);
}

TEST(Rates, WhatIsNotKnownIsRefused) {
  const auto where = [](const hardware::Device& of, DType dtype) {
    try {
      (void)rates_of(of, plan::load_profile("standard"), dtype);
    } catch (const Error& error) {
      return error.where();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(where(hardware::memory_only_device(Bytes(1000)), DType::bf16), "device");
  EXPECT_EQ(where(device("tpu-v4"), DType::fp32), "peak_flops");
}

TEST(Rates, AStepIsItsSlowerRooflineAndTheStartOfItsKernels) {
  Rates rates;
  rates.matmul_flops_per_second = 10;
  rates.score_flops_per_second = 5;
  rates.attention_flops_per_second = 4;
  rates.attention_backward_flops_per_second = 2;
  rates.memory_bytes_per_second = 8;
  rates.kernel_start_seconds = 0.5;
  rates.elementwise_bytes_per_second = 8 / 1.5;
  StepWork product;
  product.matmul_flops = 100;
  product.memory_bytes = 40;
  product.kernels = 1;
  EXPECT_EQ(step_seconds(product, plan::Phase::forward, rates), 10.5);  // 100 / 10 > 40 / 8
  product.memory_bytes = 160;
  EXPECT_EQ(step_seconds(product, plan::Phase::forward, rates), 20.5);  // 160 / 8
  // Narrow products are four times slower: 0.4 s per FLOP at 4 bytes, 0.1 s at 1, so 0.16 at 1.6.
  rates.memory_bytes_per_second = 1e9;
  rates.narrow_flops_per_second = 2.5;
  rates.matmul_bytes_per_flop = 1;
  rates.narrow_bytes_per_flop = 4;
  EXPECT_DOUBLE_EQ(step_seconds(product, plan::Phase::forward, rates), 16.5);
  product.memory_bytes = 1000;
  EXPECT_DOUBLE_EQ(step_seconds(product, plan::Phase::forward, rates), 40.5);
  product.memory_bytes = 10;
  EXPECT_DOUBLE_EQ(step_seconds(product, plan::Phase::forward, rates), 10.5);
  rates.narrow_flops_per_second = 0;
  rates.memory_bytes_per_second = 8;
  StepWork norm;
  norm.elementwise = true;
  norm.memory_bytes = 16;
  EXPECT_EQ(step_seconds(norm, plan::Phase::forward, rates), 3);  // 1.5 x 16 / 8
  StepWork attention;
  attention.fused_attention_flops = 8;
  EXPECT_EQ(step_seconds(attention, plan::Phase::forward, rates), 2);
  EXPECT_EQ(step_seconds(attention, plan::Phase::recompute, rates), 2);
  EXPECT_EQ(step_seconds(attention, plan::Phase::backward, rates), 4);
}

}  // namespace
}  // namespace fourhold::predict

#include "fourhold/measured/fp8_device.h"

namespace fourhold::measured {

bool multiply_in_fp8(hardware::Device& device) {
  hardware::PeakFlops& peak = device.peak_flops;
  if (peak.fp8 <= 0 || peak.bf16 <= 0) return false;
  const double faster = peak.fp8 / peak.bf16;
  hardware::AttentionShares& attention = device.sustained.attention;
  for (double* share : {&attention.unfused, &attention.flash_1, &attention.triton,
                        &attention.flash_2, &attention.flash_3}) {
    *share /= faster;
  }
  peak.bf16 = peak.fp8;
  peak.fp16 = peak.fp8;
  return true;
}

}  // namespace fourhold::measured

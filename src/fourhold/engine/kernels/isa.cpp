#include "fourhold/engine/kernels/isa.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"

namespace fourhold::engine {
namespace {

struct Registers {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};
Registers cpuid(unsigned leaf, unsigned part) {
  Registers r;
  if (__get_cpuid_count(leaf, part, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

// Which register states the operating system saves (XCR0).
std::uint64_t saved_states() {
  constexpr unsigned kOsXsave = 1U << 27;
  if ((cpuid(1, 0).ecx & kOsXsave) == 0) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

// Linux gives the tile state to a process that asks (arch_prctl, ARCH_REQ_XCOMP_PERM, feature 18;
// Documentation/arch/x86/xstate.rst).
bool tiles_granted() {
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Bits of CPUID from Intel's "Architecture Instruction Set Extensions Programming Reference".
Isa detect() {
  constexpr std::uint64_t kAvxState = 0x6;
  constexpr std::uint64_t kAvx512State = 0xe6;
  constexpr std::uint64_t kTileState = 0x60000;
  const std::uint64_t states = saved_states();
  const auto has = [](unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; };
  const Registers basic = cpuid(1, 0);
  const Registers extended = cpuid(7, 0);
  const bool fma = has(basic.ecx, 1U << 12);
  const bool avx2 = has(extended.ebx, 1U << 5);
  if ((states & kAvxState) != kAvxState || !fma || !avx2) return Isa::portable;
  // AVX512 F, DQ, BW, VL.
  constexpr unsigned kAvx512 = (1U << 16) | (1U << 17) | (1U << 30) | (1U << 31);
  if ((states & kAvx512State) != kAvx512State || !has(extended.ebx, kAvx512)) return Isa::avx2;
  if (!has(cpuid(7, 1).eax, 1U << 5)) return Isa::avx512;
  constexpr unsigned kAmxBf16AndTile = (1U << 22) | (1U << 24);
  if ((states & kTileState) != kTileState || !has(extended.edx, kAmxBf16AndTile) ||
      !tiles_granted()) {
    return Isa::avx512_bf16;
  }
  return Isa::amx;
}

}  // namespace

Isa best_isa() {
  static const Isa best = detect();
  return best;
}

Isa isa_of_plan(std::string_view name) { return isa_of_plan(name, best_isa()); }

Isa isa_of_plan(std::string_view name, Isa best) {
  const auto& names = plan::kIsaNames;
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string near = did_you_mean(name, known);
    throw Error("--isa", "there is no instruction set '" + std::string(name) + "'",
                near.empty() ? "use auto, portable, avx2, avx512, avx512_bf16 or amx" : near);
  }
  if (found == names.begin()) return best;
  const auto isa = static_cast<Isa>(found - names.begin() - 1);
  if (isa > best) {
    const std::string has(to_string(best));
    throw Error("--isa", "this machine has no " + std::string(name) + "; its best is " + has,
                "use --isa " + has + " or --isa auto");
  }
  return isa;
}

}  // namespace fourhold::engine

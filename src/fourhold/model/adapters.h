// Low-rank adapters beside frozen matrices (LoRA, Hu 2021, arXiv 2106.09685): which matrices have
// one, and how an implementation feeds it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "fourhold/model/names.h"

namespace fourhold::model {

enum class Adapters : std::uint8_t { none, lora };

// The linears of a layer by what they project to. Latent attention: `q` is all of q's projections,
// `kv` both of k and v's. `linear` is the one matrix that stands in place of a branch.
enum class AdapterTarget : std::uint8_t { q, k, v, kv, o, gate, up, down, linear };
inline constexpr std::array<std::string_view, 9> kAdapterTargetNames{
    "q", "k", "v", "kv", "o", "gate", "up", "down", "linear"};

// The target a parameter belongs to, or nothing: routers, routed experts, embedding and head have
// no adapters.
[[nodiscard]] std::optional<AdapterTarget> adapter_target(TensorName name);

// A set of targets.
class AdapterTargets {
 public:
  constexpr AdapterTargets() = default;
  constexpr AdapterTargets(std::initializer_list<AdapterTarget> targets) {
    for (const AdapterTarget target : targets) add(target);
  }
  [[nodiscard]] static constexpr AdapterTargets all() {
    AdapterTargets targets;
    targets.bits_ = (1U << kAdapterTargetNames.size()) - 1;
    return targets;
  }
  constexpr void add(AdapterTarget target) { bits_ |= bit(target); }
  [[nodiscard]] constexpr bool contains(AdapterTarget target) const {
    return (bits_ & bit(target)) != 0;
  }
  [[nodiscard]] constexpr bool contains_any_of(const AdapterTargets& others) const {
    return (bits_ & others.bits_) != 0;
  }
  friend constexpr bool operator==(const AdapterTargets&, const AdapterTargets&) = default;

 private:
  [[nodiscard]] static constexpr unsigned bit(AdapterTarget target) {
    return 1U << static_cast<unsigned>(target);
  }
  unsigned bits_ = 0;
};

// How adapters are stored: in the formats of the run's other trained weights, or in fp32 with fp32
// gradients, their own master copy (PEFT: autocast_adapter_dtype).
enum class AdapterStorage : std::uint8_t { as_weights, fp32 };

// What an adapter's first matrix reads.
enum class AdapterInput : std::uint8_t {
  shared,  // the tensor the frozen matrix reads
  copied,  // a cast of its own, as autocast makes for each linear
  wide     // an fp32 copy: the adapter is fp32 and computes in fp32 (PEFT without autocast)
};

// The adapters of linears that run as one product (q, k and v).
enum class PackedAdapters : std::uint8_t {
  separate,
  scattered  // one dropout for all, and updates put in their rows by a copy that keeps them
             // (litgpt)
};

// Where the frozen matrix is widened or cast before use, from the format it is stored in.
enum class FrozenCast : std::uint8_t {
  none,
  backward,  // forward multiplies it as stored (int8)
  both
};

// Whether a product with a quantised matrix keeps its input, which its backward does not read.
enum class QuantisedInput : std::uint8_t { dropped, kept };

// Embedding and head, where they are trained whole beside adapters.
enum class TrainedModules : std::uint8_t { none, embedding, head, embedding_head };
[[nodiscard]] constexpr bool trains_embedding(TrainedModules modules) {
  return modules == TrainedModules::embedding || modules == TrainedModules::embedding_head;
}
[[nodiscard]] constexpr bool trains_head(TrainedModules modules) {
  return modules == TrainedModules::head || modules == TrainedModules::embedding_head;
}

// Whether a module trained whole takes the place of the frozen one, or stands beside it.
enum class TrainedCopies : std::uint8_t { replace, beside };

}  // namespace fourhold::model

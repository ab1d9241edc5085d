// A profile: which bytes a framework holds for the same mathematics, and which splits it can
// express.
//
// Profiles are data files (data/profiles/*.json); each constant there carries its source.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/base/units.h"
#include "fourhold/model/switches.h"

namespace fourhold::plan {

// From when gradients take memory: for the whole run, or from the first backward to the step.
enum class GradientLifetime : std::uint8_t { persistent, backward_to_step };
inline constexpr std::array<std::string_view, 2> kGradientLifetimeNames{"persistent",
                                                                        "backward_to_step"};

// What each rank holds while the model is loaded.
enum class Startup : std::uint8_t {
  sharded,        // each rank makes or loads only its own part
  full_copy,      // a full copy in the stored dtype first
  full_fp32_copy  // a full fp32 copy first
};
inline constexpr std::array<std::string_view, 3> kStartupNames{"sharded", "full_copy",
                                                               "full_fp32_copy"};

// Which fp32 words a mixed-precision run keeps (see Recipe).
enum class WeightStorage : std::uint8_t {
  compute_with_master,  // 16-bit weights and a separate fp32 master
  fp32_only             // fp32 weights are the master; 16-bit copies only where gathered (FSDP2)
};
inline constexpr std::array<std::string_view, 2> kWeightStorageNames{"compute_with_master",
                                                                     "fp32_only"};

// Megatron caches one weight-sized gradient per distinct shape when its accumulation is fused.
enum class DummyWeightGradients : std::uint8_t { none, one_per_shape };
inline constexpr std::array<std::string_view, 2> kDummyWeightGradientsNames{"none",
                                                                            "one_per_shape"};

// What a profile may be able to split.
inline constexpr std::array<std::string_view, 7> kSplitNames{"tp", "sp", "pp",     "vpp",
                                                             "cp", "ep", "offload"};

struct Profile {
  std::string name;
  std::string summary;
  std::vector<std::string> sources;

  // State.
  WeightStorage weight_storage = WeightStorage::compute_with_master;
  bool fp32_gradients = false;  // gradient accumulator in fp32
  GradientLifetime gradient_lifetime = GradientLifetime::persistent;
  DummyWeightGradients dummy_weight_gradients = DummyWeightGradients::none;
  bool fp32_host_gradients = false;  // offloaded gradients are fp32 on the host

  // Activations.
  model::Switches switches;  // compute dtype, dropout and adapters are set by the plan

  // Buffers.
  std::int64_t bucket_bytes = 0;         // gradient bucket for reduction, 0 = none of its own
  std::int64_t prefetched_blocks = 1;    // ZeRO-3: blocks gathered ahead of the one in use
  double optimizer_temporary = 0;        // optimizer step: temporaries / fp32 bytes of the shard
  std::int64_t vocabulary_multiple = 1;  // padded to a multiple of this ...
  bool vocabulary_multiple_times_tp = false;  // ... times tp (Megatron); else to a multiple of tp

  // Outside the exact ledger; zero unless a source states it.
  std::int64_t runtime_bytes = 0;      // context and workspaces, on the device beside the allocator
  double reserved_over_allocated = 1;  // caching allocator; 1 = ideal
  Startup startup = Startup::sharded;
  std::string startup_note;

  // What it can express.
  std::vector<int> zero_stages;     // e.g. {0, 1}
  std::vector<std::string> splits;  // of kSplitNames
  [[nodiscard]] bool can(std::string_view split) const;
};

[[nodiscard]] std::vector<std::string> profile_names();
// The built-in profile of that name, or the JSON file at that path. Throws Error with near matches.
[[nodiscard]] Profile load_profile(const std::string& name_or_path);

}  // namespace fourhold::plan

// Which plans a search compares: every split the model, the devices and the batch allow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fourhold/hardware/cluster.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/profile.h"

namespace fourhold::search {

// Why a plan of the space is none: counted, one per outer tuple, or per candidate for `rounds`.
enum class Illegal : std::uint8_t {
  devices,       // tp x pp x cp does not divide them
  global_batch,  // not a multiple of dp
  experts,       // ep does not divide dp x cp
  widths,        // tp does not divide a width, or kv heads
  sequence,      // seq does not split over cp and tp
  profile,       // the profile has no such split
  shard_groups,  // do not divide dp x cp / ep
  rounds,        // interleaving needs micro-batches in multiples of pp; a pipeline few enough to
                 // replay
};
inline constexpr int kIllegalCount = 8;
inline constexpr std::array<std::string_view, kIllegalCount> kIllegalNames{
    "devices",  "global_batch", "experts",      "widths",
    "sequence", "profile",      "shard_groups", "rounds"};

struct OuterTuple {
  std::int64_t tp = 1, pp = 1, cp = 1, ep = 1;
  std::int64_t dp = 1;  // what is left of the devices
  friend bool operator==(const OuterTuple&, const OuterTuple&) = default;
};

// What a caller gives; unset fields of the request are searched.
struct SpaceRequest {
  const model::ModelConfig* config = nullptr;
  const plan::Profile* profile = nullptr;
  plan::PlanRequest plan;             // count, seq and global_batch are set
  std::int64_t devices_per_node = 1;  // bounds tp ...
  bool tp_across_nodes = false;       // ... unless this is set
};

// The space of one device count:
// - tp divides the attention heads, at most the devices of a node; pp from 1 to the layers; cp
//   powers of two up to 16 with seq / (2 cp) at least 128; ep divides the experts (1 if dense);
//   what a profile cannot split stays 1;
// - vpp > 1 only where pp > 1 and pp x vpp divides the layers; every ZeRO stage of the profile;
//   micro_batch every divisor of global_batch / dp; recompute none, selective, full and full:K for
//   1 <= K < ceil(layers / pp); every offload.
// A field the request gives has that one value.
class Space {
 public:
  // Throws Error for a given field that no plan can have.
  explicit Space(const SpaceRequest& request);

  [[nodiscard]] const SpaceRequest& request() const { return request_; }
  [[nodiscard]] std::int64_t devices() const { return *request_.plan.count; }

  // All outer tuples in order, with the devices dp stands for where they divide.
  [[nodiscard]] std::vector<OuterTuple> outer_tuples() const;
  // Absent: legal.
  [[nodiscard]] std::optional<Illegal> illegal(const OuterTuple& outer) const;

  [[nodiscard]] std::vector<std::int64_t> vpps(const OuterTuple& outer) const;
  [[nodiscard]] const std::vector<int>& zeros() const { return zeros_; }
  [[nodiscard]] std::vector<std::int64_t> micro_batches(const OuterTuple& outer) const;
  [[nodiscard]] std::vector<plan::RecomputePolicy> recomputes(const OuterTuple& outer) const;
  [[nodiscard]] const std::vector<plan::Offload>& offloads() const { return offloads_; }
  // Full candidates of a legal outer tuple: the product of the five lists.
  [[nodiscard]] std::int64_t candidates(const OuterTuple& outer) const;

  // The plan of a candidate. The layout is the canonical one unless the request names it.
  [[nodiscard]] plan::Plan plan(const OuterTuple& outer, std::int64_t vpp, int zero,
                                std::int64_t micro_batch, const plan::RecomputePolicy& recompute,
                                plan::Offload offload) const;

 private:
  [[nodiscard]] std::vector<std::int64_t> tensor_degrees() const;
  [[nodiscard]] std::vector<std::int64_t> context_degrees() const;
  [[nodiscard]] std::vector<std::int64_t> expert_degrees() const;
  [[nodiscard]] std::vector<std::int64_t> stage_counts() const;

  SpaceRequest request_;
  std::vector<int> zeros_;
  std::vector<plan::Offload> offloads_;
};

}  // namespace fourhold::search

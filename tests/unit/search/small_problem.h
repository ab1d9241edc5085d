// Small search problems, and all of their plans by predict_memory and predict_time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/hardware/catalogue.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/time.h"
#include "fourhold/search/search.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold::test {

struct SmallSizes {
  std::int64_t devices = 1;
  std::int64_t batch = 8;
  std::int64_t usable = 0;  // bytes of a device
};

// Sequences of 32 tokens on nodes of four A100s of that much memory.
class SmallProblem {
 public:
  SmallProblem(const std::string& family, const std::string& profile, const SmallSizes& sizes)
      : config_(small_model(family)), profile_(plan::load_profile(profile)) {
    request_.space.plan.count = sizes.devices;
    request_.space.plan.seq = 32;
    request_.space.plan.global_batch = sizes.batch;
    request_.space.devices_per_node = 4;
    request_.cluster =
        hardware::uniform_cluster(hardware::load_device("a100-sxm-80gb").device, sizes.devices);
    request_.cluster.devices_per_node = 4;
    request_.capacity = {.usable_bytes = Bytes(sizes.usable), .devices_per_node = 4};
    request_.space.config = &config_;
    request_.space.profile = &profile_;
  }
  // `request` points into this object.
  SmallProblem(const SmallProblem&) = delete;
  SmallProblem& operator=(const SmallProblem&) = delete;

  [[nodiscard]] const search::SearchRequest& request() const { return request_; }
  [[nodiscard]] search::SearchRequest& request() { return request_; }
  [[nodiscard]] const plan::Profile& profile() const { return profile_; }

 private:
  model::ModelConfig config_;
  plan::Profile profile_;
  search::SearchRequest request_;
};

struct BrutePlan {
  search::Candidate candidate;
  plan::Plan plan;
  predict::VerdictClass verdict = predict::VerdictClass::fits;
  std::int64_t live_peak_bytes = 0;
  std::int64_t missing_bytes = 0;  // on the device
  double step_seconds = 0;         // of those that fit
};

// Whether the plan still fits when its arena is placed.
inline bool placement_fits(const SmallProblem& problem, const plan::Plan& plan) {
  const search::SearchRequest& request = problem.request();
  return predict::classify(predict::predict_memory(*request.space.config, plan, problem.profile()),
                           request.capacity) == predict::VerdictClass::fits;
}

// Every legal candidate.
inline std::vector<BrutePlan> all_plans(const SmallProblem& problem) {
  const search::SearchRequest& request = problem.request();
  const search::Space space(request.space);
  std::vector<BrutePlan> plans;
  const auto add = [&](const search::Candidate& candidate) {
    BrutePlan brute;
    try {
      brute.plan = search::plan_of(candidate, space);
    } catch (const Error&) {
      return;  // illegal
    }
    const predict::MemoryPrediction memory = predict::predict_memory(
        *request.space.config, brute.plan, problem.profile(), predict::WithLedger::no);
    brute.candidate = candidate;
    brute.verdict = predict::classify(memory, request.capacity);
    brute.live_peak_bytes = memory.allocated_bytes.count();
    brute.missing_bytes = (memory.device_bytes - request.capacity.usable_bytes).count();
    if (brute.verdict == predict::VerdictClass::fits) {
      brute.step_seconds = predict::predict_time(*request.space.config, brute.plan,
                                                 problem.profile(), request.cluster)
                               .step_seconds;
    }
    plans.push_back(std::move(brute));
  };
  for (const search::OuterTuple& outer : space.outer_tuples()) {
    if (space.illegal(outer)) continue;
    const auto recomputes = static_cast<std::int64_t>(space.recomputes(outer).size());
    for (const std::int64_t vpp : space.vpps(outer)) {
      for (const int zero : space.zeros()) {
        for (const std::int64_t micro_batch : space.micro_batches(outer)) {
          for (std::int64_t recompute = 0; recompute < recomputes; ++recompute) {
            for (const plan::Offload offload : space.offloads()) {
              add({outer, vpp, zero, micro_batch, recompute, offload});
            }
          }
        }
      }
    }
  }
  return plans;
}

}  // namespace fourhold::test

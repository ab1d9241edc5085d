// Seconds of a step, by what they are spent on.
#pragma once

namespace fourhold::predict {

// The parts of the JSON contract; their sum is the step. `pipeline_bubble` is the step minus the
// mean stage's work; `host` is what waiting for the host adds to the device's own time.
struct PartSeconds {
  double compute = 0;
  double recompute = 0;
  double tensor_parallel = 0;
  double pipeline_bubble = 0;
  double pipeline_transfer = 0;
  double data_parallel = 0;
  double context_parallel = 0;
  double expert_parallel = 0;
  double offload = 0;
  double optimizer = 0;
  double host = 0;

  [[nodiscard]] double total() const {
    return compute + recompute + tensor_parallel + pipeline_bubble + pipeline_transfer +
           data_parallel + context_parallel + expert_parallel + offload + optimizer + host;
  }
};

// Calls visit(name, field of each...) for every part, in the order of the contract.
template <class Visitor, class... Owners>
void visit_parts(Visitor&& visit, Owners&... owners) {
  visit("compute", owners.compute...);
  visit("recompute", owners.recompute...);
  visit("tensor_parallel", owners.tensor_parallel...);
  visit("pipeline_bubble", owners.pipeline_bubble...);
  visit("pipeline_transfer", owners.pipeline_transfer...);
  visit("data_parallel", owners.data_parallel...);
  visit("context_parallel", owners.context_parallel...);
  visit("expert_parallel", owners.expert_parallel...);
  visit("offload", owners.offload...);
  visit("optimizer", owners.optimizer...);
  visit("host", owners.host...);
}

// Adds `times` x `other` to each part.
inline void add_parts(PartSeconds& sum, const PartSeconds& other, double times = 1) {
  visit_parts([times](const char*, double& own, const double& theirs) { own += times * theirs; },
              sum, other);
}

}  // namespace fourhold::predict

#include "fourhold/report/why_alive.h"

namespace fourhold::report {
namespace {

using ledger::Category;
using ledger::Role;

std::string_view why_on_host(const ledger::Entry& entry) {
  if (entry.category == Category::saved_activation) {
    return "activations kept in host memory: from forward until their backward";
  }
  if (entry.key.role == Role::buffer) {
    return "pinned host buffers: state streams through them";
  }
  return "state kept in host memory: it takes none on the device";
}

std::string_view why_gradient(const ledger::Entry& entry) {
  if (entry.key.role == Role::whole_gradient) {
    return "gradients of one block: whole until they are reduced to their owners";
  }
  return "gradients: added up until the optimizer step";
}

std::string_view why_optimizer(const ledger::Entry& entry) {
  if (entry.key.role == Role::scale) return "optimizer scales: of its quantised moments";
  return "optimizer moments: kept from step to step";
}

std::string_view why_scratch(const ledger::Entry& entry) {
  if (entry.key.block == "step") return "buffers of the framework: for the whole step";
  return "results of the step at work: needed only until it ends";
}

}  // namespace

std::string_view why_alive(const ledger::Entry& entry) {
  if (entry.place == ledger::Place::host) return why_on_host(entry);
  switch (entry.category) {
    case Category::weight:
      return "weights: used by every forward and backward";
    case Category::gathered_weight:
      return "gathered weights: whole while their block is at work";
    case Category::packed_weight:
      return "packed weights: laid out for the matrix products";
    case Category::master_weight:
      return "master copy: takes updates too small for 16 bits";
    case Category::gradient:
      return why_gradient(entry);
    case Category::optimizer_state:
      return why_optimizer(entry);
    case Category::saved_activation:
      return "saved activations: made by forward, waiting for their backward";
    case Category::activation_gradient:
      return "gradients of activations: on their way back through the layers";
    case Category::scratch:
      return why_scratch(entry);
    case Category::communication:
      return "communication buffers: for the whole step";
    case Category::input:
      return "token ids and targets of the batches in flight";
    case Category::kv_cache:
      return "keys and values of the tokens read so far: attention reads them all";
    case Category::other:
      break;
  }
  return "other";
}

}  // namespace fourhold::report

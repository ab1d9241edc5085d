#include "tests/engine/splits/split_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "fourhold/engine/communicator/thread_communicator.h"
#include "fourhold/ledger/compare.h"
#include "fourhold/ledger/placement.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/plan/validate.h"
#include "fourhold/predict/expanded_ledger.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/rank_traffic.h"

namespace fourhold::engine::testing {
namespace {

std::string text_of(SmallModel model) {
  switch (model) {
    case SmallModel::gpt2:
      return R"({"model_type":"gpt2","vocab_size":259,"n_positions":32,"n_embd":24,"n_layer":4,)"
             R"("n_head":4,"resid_pdrop":0,"embd_pdrop":0,"attn_pdrop":0})";
    case SmallModel::llama:
      return R"({"model_type":"llama","vocab_size":260,"hidden_size":32,"intermediate_size":40,)"
             R"("num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,)"
             R"("max_position_embeddings":32,"rms_norm_eps":1e-5,"tie_word_embeddings":false})";
    case SmallModel::qwen3:
      break;
  }
  return R"({"model_type":"qwen3","vocab_size":261,"hidden_size":24,"intermediate_size":40,)"
         R"("num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":4,"head_dim":8,)"
         R"("max_position_embeddings":32,"tie_word_embeddings":true})";
}

plan::Plan finished(plan::Plan plan, const model::ModelConfig& config) {
  plan.profile = "fourhold";
  plan.isa = "portable";
  if (plan.seq == 0) plan.seq = 16;
  plan.sp = plan.sp && plan.tp > 1;
  if (plan.vpp > 1) plan.schedule = plan::ScheduleKind::interleaved;
  plan.global_batch = plan.micro_batch * plan.grad_accum * plan.dp;
  const std::int64_t pieces = plan.pp * plan.vpp;
  if (plan.layers_per_stage.empty()) {
    plan.layers_per_stage.assign(static_cast<std::size_t>(pieces), config.layer_count() / pieces);
  }
  return plan;
}

// A value that depends on the parameter's name and the element alone.
double value_at(const ParameterTensors& parameter, std::int64_t element) {
  std::uint64_t state = 1469598103934665603ULL;
  for (const char letter : parameter.name) {
    state = (state ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  }
  state = (state ^ static_cast<std::uint64_t>(element)) * 0x9E3779B97F4A7C15ULL;
  state = (state ^ (state >> 29)) * 0xBF58476D1CE4E5B9ULL;
  const double unit = static_cast<double>(state >> 40) / 16777216.0 - 0.5;
  const bool norm = parameter.role == model::ParameterRole::vector &&
                    parameter.name.find("norm") != std::string::npos &&
                    parameter.name.find("bias") == std::string::npos;
  return norm ? 1 + 0.2 * unit : 0.2 * unit;
}

// Calls visit(place in the part, element of the whole parameter).
template <class Visit>
void for_each_element(const plan::ParameterPart& part, const Visit& visit) {
  std::int64_t at = 0;
  for (const plan::Slice& slice : plan::slices_of(part)) {
    for (std::int64_t run = 0; run < slice.count; ++run) {
      for (std::int64_t i = 0; i < slice.length; ++i) {
        visit(at++, slice.begin + run * slice.stride + i);
      }
    }
  }
}

double element_of(const Tensor& tensor, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  return tensor.dtype == DType::bf16 ? static_cast<double>(to_float(tensor.as<Bf16>()[at]))
                                     : static_cast<double>(tensor.as<float>()[at]);
}

// FNV-1a of bytes, going on from another.
std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t digest) {
  for (const std::byte each : bytes) {
    digest = (digest ^ static_cast<std::uint64_t>(each)) * 1099511628211ULL;
  }
  return digest;
}
std::uint64_t digest_of(const std::vector<double>& losses) {
  return digest_of(std::as_bytes(std::span(losses)), 1469598103934665603ULL);
}
std::uint64_t digest_of(const Tensor& tensor, std::uint64_t digest) {
  return digest_of({tensor.data, static_cast<std::size_t>(tensor.bytes())}, digest);
}

void fill(const ParameterTensors& parameter, const SplitSetup& setup) {
  const auto bytes = static_cast<std::size_t>(parameter.held_weight.bytes());
  std::fill_n(parameter.held_weight.data, bytes, std::byte{0});
  for_each_element(parameter.held, [&](std::int64_t at, std::int64_t element) {
    const auto i = static_cast<std::size_t>(at);
    const auto value = static_cast<float>(value_at(parameter, element));
    if (parameter.held_weight.dtype == DType::bf16) {
      parameter.held_weight.as<Bf16>()[i] = to_bf16(value);
    } else {
      parameter.held_weight.as<float>()[i] = value;
    }
  });
  std::vector<float> owned;
  for_each_element(parameter.owned, [&](std::int64_t, std::int64_t element) {
    owned.push_back(static_cast<float>(value_at(parameter, element)));
  });
  (void)set_weights({.name = parameter.name,
                     .part = parameter.owned,
                     .weight = parameter.weight,
                     .gradient = parameter.gradient,
                     .master = parameter.master,
                     .moment1 = parameter.moment1,
                     .moment2 = parameter.moment2},
                    owned.data(), setup.plan.precision);
  for (const Tensor& moment : {parameter.moment1, parameter.moment2}) {
    if (moment.data == nullptr) continue;
    std::fill_n(moment.data, static_cast<std::size_t>(moment.bytes()), std::byte{0});
  }
}

}  // namespace

SplitSetup split_setup(SmallModel model, plan::Plan plan, plan::Precision precision) {
  SplitSetup setup;
  setup.config_text = text_of(model);
  setup.config = model::read_hf_config(setup.config_text, "small");
  setup.numerics = model::read_numerics(setup.config_text, "small");
  setup.profile = plan::load_profile("fourhold");
  plan.precision = precision;
  setup.plan = finished(std::move(plan), setup.config);
  plan::validate(setup.plan, setup.config, setup.profile);
  setup.options.schedule = {.decay = Decay::constant,
                            .peak = 1e-2,
                            .minimum = 1e-2,
                            .warm_up_steps = 0,
                            .steps = setup.steps};
  setup.options.hyperparameters.optimizer = setup.plan.optimizer;
  setup.options.seed = 3;
  return setup;
}

SplitSetup on_one_rank(const SplitSetup& split) {
  SplitSetup one = split;
  plan::Plan plan;
  plan.precision = split.plan.precision;
  plan.optimizer = split.plan.optimizer;
  plan.loss_chunk = split.plan.loss_chunk;
  plan.seq = split.plan.seq;
  plan.micro_batch = split.plan.micro_batch;
  plan.grad_accum = split.plan.grad_accum * split.plan.dp;
  one.plan = finished(plan, split.config);
  return one;
}

struct SplitRanks::Shared {
  std::mutex door;
  SplitOutcome outcome;
  std::map<std::string, std::vector<bool>> seen;

  // Ranks that hold the same elements must agree on every bit.
  void add(const ParameterTensors& parameter) {
    std::vector<double>& whole = outcome.weights[parameter.name];
    std::vector<bool>& known = seen[parameter.name];
    whole.resize(static_cast<std::size_t>(parameter.held.shape.elements()));
    known.resize(whole.size());
    std::int64_t differing = 0;
    for_each_element(parameter.held, [&](std::int64_t at, std::int64_t element) {
      const auto i = static_cast<std::size_t>(element);
      const double value = element_of(parameter.held_weight, at);
      if (known[i] && whole[i] != value) ++differing;
      whole[i] = value;
      known[i] = true;
    });
    if (differing > 0) {
      outcome.faults.push_back(
          fmt::format("{}: {} elements differ between replicas", parameter.name, differing));
    }
    add_moment(parameter, parameter.moment1, outcome.moments1);
    add_moment(parameter, parameter.moment2, outcome.moments2);
  }

  static void add_moment(const ParameterTensors& parameter, const Tensor& moment,
                         std::map<std::string, std::vector<double>>& moments) {
    if (moment.data == nullptr) return;
    std::vector<double>& whole = moments[parameter.name];
    whole.resize(static_cast<std::size_t>(parameter.owned.shape.elements()));
    for_each_element(parameter.owned, [&](std::int64_t at, std::int64_t element) {
      whole[static_cast<std::size_t>(element)] = element_of(moment, at);
    });
  }

  // Of one rank and its own prediction, kind by kind.
  void compare(std::int64_t rank, const predict::RankTraffic& predicted, const Traffic& sent,
               std::int64_t steps) {
    for (std::size_t kind = 0; kind < Traffic::kKinds; ++kind) {
      const predict::TrafficCount& expected = predicted.of_kind[kind];
      const Traffic::Count& found = sent.of_kind[kind];
      outcome.predicted_bytes[rank][kind] = steps * expected.bytes;
      if (found.bytes == steps * expected.bytes && found.steps == steps * expected.steps) continue;
      outcome.faults.push_back(fmt::format(
          "rank {}, collective {}: {} bytes in {} steps predicted, {} in {} sent", rank, kind,
          steps * expected.bytes, steps * expected.steps, found.bytes, found.steps));
    }
  }
};

SplitRanks::SplitRanks(const SplitSetup& setup, const data::Dataset& dataset)
    : setup_(setup), dataset_(dataset), shared_(std::make_shared<Shared>()) {}

void SplitRanks::run_rank(std::int64_t rank, Communicator* communicator) {
  const std::int64_t stage = plan::coordinates(setup_.plan, rank).pp;
  ledger::Ledger predicted = predict::expanded_ledger(
      setup_.config, predict::arena_plan(setup_.plan), setup_.profile, stage);
  predicted.reserved_bytes = ledger::place(predicted.entries).reserved_bytes;
  const bool guarded = setup_.watch == Watch::on;
  LedgerArena arena(predicted, {.threads = 1, .guard_bytes = guarded ? 64 : 0});
  Executor executor(setup_.config, setup_.numerics, setup_.plan, setup_.profile, arena,
                    setup_.watch, {rank, communicator});
  for (const ParameterTensors& parameter : executor.parameters()) fill(parameter, setup_);
  TrainingStep step(dataset_, setup_.plan, setup_.options, executor.groups().at());
  data::DataPosition position;
  std::vector<double> losses;
  std::vector<double> norms;
  for (std::int64_t i = 1; i <= setup_.steps; ++i) {
    const StepReport report = step.run(i, position, executor);
    position = dataset_.order().after(position, setup_.plan.global_batch);
    losses.push_back(report.loss);
    norms.push_back(report.gradient_norm);
  }
  ledger::Ledger measured = executor.measured();
  if (guarded) measured.reserved_bytes = predicted.reserved_bytes;  // guards move entries
  const ledger::Comparison comparison = ledger::compare(predicted, measured);
  const predict::RankTraffic traffic =
      predict::rank_traffic(setup_.config, setup_.plan, setup_.profile, rank);

  const std::lock_guard lock(shared_->door);
  SplitOutcome& outcome = shared_->outcome;
  for (const ledger::CompareRow& row : comparison.rows) {
    if (!row.differs()) continue;
    std::string fields;
    for (const std::string_view field : row.fields) fields += " " + std::string(field);
    outcome.faults.push_back(
        fmt::format("rank {}: {}{} ({} predicted, {} measured)", rank, row.key,
                    row.only_in == ledger::OnlyIn::a ? " only predicted" : fields,
                    row.bytes.a.count(), row.bytes.b.count()));
  }
  if (outcome.losses.empty()) outcome.losses = losses;
  if (outcome.norms.empty()) outcome.norms = norms;
  if (outcome.losses != losses || outcome.norms != norms) {
    outcome.faults.push_back(fmt::format("rank {} has another loss or norm", rank));
  }
  if (measured.reserved_bytes != predicted.reserved_bytes) {
    outcome.faults.push_back(fmt::format("rank {}: {} bytes reserved, {} touched", rank,
                                         predicted.reserved_bytes.count(),
                                         measured.reserved_bytes.count()));
  }
  shared_->compare(rank, traffic, executor.traffic(), setup_.steps);
  std::uint64_t digest = digest_of(losses);
  for (const ParameterTensors& parameter : executor.parameters()) {
    digest = digest_of(parameter.held_weight, digest);
    shared_->add(parameter);
  }
  outcome.digests[rank] = digest;
}

const SplitOutcome& SplitRanks::own() const { return shared_->outcome; }

SplitOutcome SplitRanks::take() {
  SplitOutcome outcome = std::move(shared_->outcome);
  for (const auto& [name, known] : shared_->seen) {
    for (const bool each : known) {
      if (each) continue;
      outcome.faults.push_back(name + " is not held whole by all ranks together");
      break;
    }
  }
  return outcome;
}

std::map<std::string, std::vector<double>> first_weights(const SplitSetup& setup,
                                                         const data::Dataset& dataset) {
  SplitSetup none = on_one_rank(setup);
  none.steps = 0;
  return train_split(none, dataset).weights;
}

SplitOutcome train_split(const SplitSetup& setup, const data::Dataset& dataset) {
  SplitRanks ranks(setup, dataset);
  if (setup.plan.devices() == 1) {
    ranks.run_rank(0, nullptr);
  } else {
    run_ranks(static_cast<int>(setup.plan.devices()), [&](Communicator& communicator) {
      ranks.run_rank(communicator.rank(), &communicator);
    });
  }
  return ranks.take();
}

}  // namespace fourhold::engine::testing

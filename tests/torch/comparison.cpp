#include "tests/torch/comparison.h"

namespace fourhold::engine::torch_oracle {
namespace {

std::vector<std::int64_t> batch_at(const data::Dataset& dataset, data::DataPosition position) {
  const data::SequenceOrder& order = dataset.order();
  std::vector<std::int64_t> sequences;
  for (std::int64_t k = 0; k < kBatch; ++k) {
    sequences.push_back(order.sequence_at(order.after(position, k)));
  }
  return sequences;
}

Point look_at(EngineRun& run, const data::Dataset& dataset, const std::string& name,
              std::int64_t whole_row) {
  Point point{.name = name, .ours = run.loss_and_gradients({}), .log_probabilities = {}};
  std::vector<data::TokenId> ids(static_cast<std::size_t>(kMicroBatch * kSeq));
  std::vector<data::TokenId> targets(ids.size());
  dataset.fill({}, 0, ids, targets);
  const auto ask = [&](std::int64_t place, data::TokenId target) {
    point.log_probabilities.push_back({place, target, run.log_probability({}, place, target)});
  };
  for (data::TokenId target = 0; target < kVocabulary; ++target) ask(whole_row, target);
  for (std::size_t place = 0; place < targets.size(); place += 5) {
    ask(static_cast<std::int64_t>(place), targets[place]);
  }
  return point;
}

}  // namespace

Comparison run_both(Family family, plan::Precision precision, const std::string& folder) {
  const std::string tokens = write_tokens(folder);
  const data::TokenSource source = data::open_tokens(tokens, {.model_vocabulary = kVocabulary});
  const data::Dataset dataset(source, {.length = kSeq, .seed = 1, .held_out_share = 0});
  EngineRun run(family, precision, dataset);
  const std::string start = folder + "/start";
  const std::string trained = folder + "/trained";
  run.write_random(start);
  run.start_from(start);

  Comparison both;
  both.points.push_back(look_at(run, dataset, "start", kMicroBatch * kSeq - 1));
  TorchJob job{.precision = precision,
               .tokens = tokens,
               .points = {start, trained},
               .batch = batch_at(dataset, {}),
               .start = start,
               .batches = {},
               .out = folder};
  data::DataPosition position;
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    both.steps.push_back(run.step(step, position));
    job.batches.push_back(batch_at(dataset, position));
    position = dataset.order().after(position, kBatch);
  }
  run.write(trained);
  both.points.push_back(look_at(run, dataset, "trained", kSeq + kSeq / 2));
  both.torch = run_torch(job, run.config());
  return both;
}

}  // namespace fourhold::engine::torch_oracle

// Splits over MPI: each rank ends with the bits that it has as a thread of one process, holds what
// was predicted for it, and sends what was predicted for it in each kind of collective, as MPI's
// own calls say.
//
// Under mpirun, without arguments: all splits of named_splits.h for as many ranks as there are.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fourhold/engine/communicator/mpi_communicator.h"
#include "fourhold/engine/data/builtin_text.h"
#include "tests/engine/communicator/mpi/count_sends.h"
#include "tests/engine/splits/named_splits.h"
#include "tests/engine/splits/split_run.h"

namespace fourhold::engine::testing {
namespace {

constexpr Seconds kTimeout{200};  // eight ranks share two cores with the threads of one more run
constexpr int kDigestTag = 30500;
constexpr std::int64_t kSteps = 20;

std::map<std::int64_t, std::uint64_t> gathered(Communicator& world, std::uint64_t own) {
  std::map<std::int64_t, std::uint64_t> all{{world.rank(), own}};
  if (world.rank() != 0) {
    const Message sent = world.send(0, kDigestTag, std::as_bytes(std::span(&own, 1)));
    world.wait(std::span(&sent, 1));
    return all;
  }
  for (int rank = 1; rank < world.size(); ++rank) {
    std::uint64_t other = 0;
    const Message received =
        world.receive(rank, kDigestTag, std::as_writable_bytes(std::span(&other, 1)));
    world.wait(std::span(&received, 1));
    all[rank] = other;
  }
  return all;
}

// Faults of one split on this rank.
std::vector<std::string> run(Communicator& world, const NamedSplit& split, SmallModel model,
                             plan::Precision precision) {
  SplitSetup setup = split_setup(model, split.plan, precision);
  setup.steps = kSteps;
  setup.watch = Watch::off;  // without guards, so that entries lie where they are predicted
  const data::TokenSource source = data::builtin_tokens(setup.config.vocab);
  const data::Dataset text(source, {.length = setup.plan.seq, .seed = 5, .held_out_share = 0});
  SplitRanks ranks(setup, text);
  (void)take_counted_bytes();
  ranks.run_rank(world.rank(), &world);
  const BytesOfKind counted = take_counted_bytes();
  std::vector<std::string> faults = ranks.own().faults;
  const BytesOfKind& predicted = ranks.own().predicted_bytes.at(world.rank());
  for (std::size_t kind = 0; kind < counted.size(); ++kind) {
    if (counted[kind] == predicted[kind]) continue;
    faults.push_back("collective " + std::to_string(kind) + ": MPI was given " +
                     std::to_string(counted[kind]) + " bytes, predicted were " +
                     std::to_string(predicted[kind]));
  }
  if (uncounted_call() != nullptr) faults.push_back(std::string(uncounted_call()) + " was called");
  const auto digests = gathered(world, ranks.own().digests.at(world.rank()));
  if (world.rank() == 0) {
    SplitSetup watched = setup;
    watched.watch = Watch::on;
    const SplitOutcome threads = train_split(watched, text);
    faults.insert(faults.end(), threads.faults.begin(), threads.faults.end());
    if (threads.digests != digests) faults.emplace_back("threads end with other bits");
  }
  return faults;
}

int run_all(Communicator& world) {
  int failures = 0;
  int done = 0;
  for (const NamedSplit& split : all_splits()) {
    if (split_setup(SmallModel::gpt2, split.plan).plan.devices() != world.size()) continue;
    ++done;
    const SmallModel model = done % 2 == 0 ? SmallModel::gpt2 : SmallModel::llama;
    const auto precision = done % 3 == 0 ? plan::Precision::fp32 : plan::Precision::bf16;
    for (const std::string& fault : run(world, split, model, precision)) {
      ++failures;
      std::printf("rank %d, %s: %s\n", world.rank(), split.name.c_str(), fault.c_str());
    }
  }
  if (world.rank() == 0) std::printf("%d splits over %d ranks\n", done, world.size());
  return failures == 0 && done > 0 ? 0 : 1;
}

}  // namespace
}  // namespace fourhold::engine::testing

int main() {
  namespace engine = fourhold::engine;
  const auto world = engine::mpi_world({.timeout = engine::testing::kTimeout});
  try {
    return engine::testing::run_all(*world);
  } catch (const std::exception& fault) {
    std::printf("rank %d: %s\n", world->rank(), fault.what());
    world->withdraw();
    world->fail({world->rank(), fault.what()});
    return 1;
  }
}

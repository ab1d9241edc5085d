// Our reduce-scatter beside MPI_Reduce_scatter_block, of bf16, by turns.
//
//   mpirun -n 2 BUILD/bin/fourhold_reduce_scatter [--mebibytes 64] [--runs 7] [--csv FILE]
//
// A run is one alternation. Prints the median ratio of MPI's time to ours; a time is
// that of the slowest rank. MPI has no bf16, so that it adds by an operation of ours: the same
// vectors that our own sum runs.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/communicator/mpi_communicator.h"
#include "fourhold/engine/launch/launcher.h"
#include "fourhold/plan/exchange_buffer.h"

namespace {

using namespace fourhold;
using namespace fourhold::engine;

// Calls of one sample: one alone would also time how ranks come to it.
constexpr int kCalls = 5;

struct Setting {
  std::int64_t mebibytes = 64;
  int runs = 7;
  std::string csv;
};

Setting setting_of(int argc, char** argv) {
  Setting setting;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 == argc) throw std::runtime_error(flag + " has no value");
    const std::string value = argv[i + 1];
    if (flag == "--mebibytes") {
      setting.mebibytes = std::stoll(value);
    } else if (flag == "--runs") {
      setting.runs = std::stoi(value);
    } else if (flag == "--csv") {
      setting.csv = value;
    } else {
      throw std::runtime_error(flag + " is none of --mebibytes, --runs and --csv");
    }
  }
  if (setting.mebibytes < 1 || setting.runs < 1) {
    throw std::runtime_error("--mebibytes and --runs are at least 1");
  }
  return setting;
}

struct Sample {
  double load = 0;
  double ours_seconds = 0;
  double theirs_seconds = 0;
  [[nodiscard]] double ratio() const { return theirs_seconds / ours_seconds; }
};

void add_bf16(void* in, void* in_and_out, int* elements, MPI_Datatype* /*type*/) {
  const std::array<const std::byte*, 2> sources{static_cast<std::byte*>(in),
                                                static_cast<std::byte*>(in_and_out)};
  add_sources({sources, DType::bf16, static_cast<std::byte*>(in_and_out), DType::bf16, *elements},
              Sum::replace, 1);
}

// Of one call, on the slowest rank.
template <typename Call>
double seconds_of(const Call& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int i = 0; i < kCalls; ++i) call();
  double seconds = (MPI_Wtime() - began) / kCalls;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

std::vector<Sample> measure(Communicator& world, const Setting& setting) {
  const int ranks = world.size();
  const std::int64_t elements = setting.mebibytes * (std::int64_t{1} << 20) / 2 / ranks * ranks;
  const std::int64_t piece = elements / ranks;
  std::vector<Bf16> whole(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    whole[i] = to_bf16(static_cast<float>((i * 7 + static_cast<std::size_t>(world.rank())) % 97));
  }
  std::vector<Bf16> ours(static_cast<std::size_t>(piece));
  std::vector<Bf16> theirs(static_cast<std::size_t>(piece));
  std::vector<std::byte> buffer(static_cast<std::size_t>(plan::exchange_buffer_bytes(ranks)));
  Collectives collectives(world, buffer, 1);
  Group group{std::vector<int>(static_cast<std::size_t>(ranks)), world.rank()};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  const Tensor from{reinterpret_cast<std::byte*>(whole.data()), DType::bf16, Dims{elements}};
  const Tensor to{reinterpret_cast<std::byte*>(ours.data()), DType::bf16, Dims{piece}};
  MPI_Op add = MPI_OP_NULL;
  MPI_Op_create(add_bf16, 1, &add);

  const auto run_ours = [&] { collectives.reduce_scatter(group, from, to, Sum::replace); };
  const auto run_theirs = [&] {
    MPI_Reduce_scatter_block(whole.data(), theirs.data(), static_cast<int>(piece), MPI_UINT16_T,
                             add, MPI_COMM_WORLD);
  };
  seconds_of(run_ours);  // the first touches its pages
  seconds_of(run_theirs);
  // Of small integers every order gives the same sum, as long as bf16 holds it.
  if (ranks == 2 && ours != theirs) throw std::runtime_error("the two sums differ");
  std::vector<Sample> samples(static_cast<std::size_t>(setting.runs));
  for (Sample& sample : samples) {
    sample.load = load_average();
    sample.ours_seconds = seconds_of(run_ours);
    sample.theirs_seconds = seconds_of(run_theirs);
  }
  MPI_Op_free(&add);
  return samples;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

void write_results(const Setting& setting, const std::vector<Sample>& samples,
                   const std::string& what) {
  std::ofstream file(setting.csv);
  std::array<char, 11> date{};
  const std::time_t now = std::time(nullptr);
  std::strftime(date.data(), date.size(), "%Y-%m-%d", std::localtime(&now));
  file << "date,cpu,setting,sample,load,ours_seconds,theirs_seconds,ratio\n";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    file << date.data() << ",\"" << cpu_name() << "\",\"" << what << "\"," << i + 1 << ','
         << sample.load << ',' << sample.ours_seconds << ',' << sample.theirs_seconds << ','
         << sample.ratio() << '\n';
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + setting.csv);
}

template <typename Get>
double median(std::vector<Sample> samples, const Get& get) {
  std::sort(samples.begin(), samples.end(),
            [&](const Sample& a, const Sample& b) { return get(a) < get(b); });
  return get(samples[samples.size() / 2]);
}

void report(const Communicator& world, const Setting& setting, const std::vector<Sample>& samples) {
  const std::string what = std::to_string(setting.mebibytes) + " MiB of bf16 over " +
                           std::to_string(world.size()) + " ranks, " + world.name();
  std::printf(
      "reduce-scatter of %s: ours %.2f ms, MPI_Reduce_scatter_block %.2f ms, ratio %.2f "
      "(medians of %d)\n",
      what.c_str(), 1e3 * median(samples, [](const Sample& s) { return s.ours_seconds; }),
      1e3 * median(samples, [](const Sample& s) { return s.theirs_seconds; }),
      median(samples, [](const Sample& s) { return s.ratio(); }), static_cast<int>(samples.size()));
  if (!setting.csv.empty()) write_results(setting, samples, what);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Setting setting = setting_of(argc, argv);
    if (!started_as(process_environment).launcher)
      throw std::runtime_error("start this by mpirun -n RANKS");
    const std::unique_ptr<Communicator> world = mpi_world();
    const std::vector<Sample> samples = measure(*world, setting);
    if (world->rank() == 0) report(*world, setting, samples);
    return 0;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
}

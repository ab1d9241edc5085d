// Checkpoints go from one split to another, and hold the model as one rank would write it.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/engine/ranks/ranks_program.h"

namespace fourhold {
namespace {

namespace fs = std::filesystem;

// The header of a safetensors file: eight bytes of its length, then JSON.
json::Value header_of(const std::string& path) {
  const std::string bytes = text_of(path);
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) {
    ADD_FAILURE() << path << " holds " << bytes.size() << " bytes";
    return json::Object{};
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  return json::parse(bytes.substr(sizeof length, length), path);
}

// Elements of all tensors in it.
std::int64_t elements_of(const std::string& path) {
  std::int64_t sum = 0;
  const json::Value header = header_of(path);
  for (const auto& [name, tensor] : header.object()) {
    if (name == "__metadata__") continue;
    std::int64_t product = 1;
    for (const json::Value& length : at(tensor, {"shape"}).array()) product *= length.integer();
    sum += product;
  }
  return sum;
}

std::vector<std::string> state_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind("state-", 0) == 0) files.push_back(entry.path());
  }
  return files;
}

class Checkpoints : public RanksProgram {
 protected:
  // On with the run in `out`, to that step; its losses join `losses`.
  void go_on(int ranks, const std::string& split, int step, std::vector<double>& losses) const {
    const json::Value result =
        answer(ranks, fmt::format("--lr 1e-3 --batch 1 --global-batch 12 --out {} --save-every 2 "
                                  "--resume auto --steps {} {}",
                                  path("out"), step, split));
    ASSERT_FALSE(result.is_null()) << split;
    EXPECT_EQ(at(result, {"steps", "last"}), json::Value(step));
    expect_predicted_bytes(result, ranks);
    const std::vector<double> own = losses_of(result);
    losses.insert(losses.end(), own.begin(), own.end());
  }
};

struct Leg {
  int ranks;
  const char* split;
};
void PrintTo(const Leg& leg, std::ostream* out) { *out << leg.ranks << ": " << leg.split; }

class Chains : public Checkpoints, public ::testing::WithParamInterface<std::vector<Leg>> {};

// Two steps on each split; then the losses are those of a run that nobody interrupted.
TEST_P(Chains, LosesNothingBetweenSplits) {
  std::vector<double> losses;
  int step = 0;
  for (const Leg& leg : GetParam()) {
    SCOPED_TRACE(leg.split);
    go_on(leg.ranks, leg.split, step += 2, losses);
    if (HasFatalFailure()) return;
    const std::string saved = fmt::format("{}/step-{:08}", path("out"), step);
    const std::int64_t parameters = TinyModel{}.parameters();
    EXPECT_EQ(elements_of(saved + "/model.safetensors"), parameters) << "no padding";
    std::int64_t state = 0;
    for (const std::string& file : state_files(saved)) state += elements_of(file);
    EXPECT_EQ(state, 2 * parameters) << "two moments of each, once";
  }
  const json::Value whole =
      answer(1, fmt::format("--lr 1e-3 --batch 1 --global-batch 12 --steps {}", step));
  ASSERT_FALSE(whole.is_null());
  expect_losses(losses, losses_of(whole), 1e-5);
  const Ended sampled = run(on_ranks(
      1, fmt::format("sample {}/step-{:08} --tokens 3 --prompt a", path("out"), step - 2)));
  EXPECT_EQ(sampled.code, 0) << sampled.err;
  EXPECT_FALSE(sampled.out.empty());
}

INSTANTIATE_TEST_SUITE_P(Of, Chains,
                         ::testing::Values(std::vector<Leg>{{2, "--zero 1"},
                                                            {3, "--zero 1"},
                                                            {4, "--zero 3"},
                                                            {2, "--tp 2 --sp on"},
                                                            {2, "--pp 2"},
                                                            {1, ""}},
                                           std::vector<Leg>{{1, ""},
                                                            {4, "--tp 2 --sp on --pp 2"},
                                                            {3, "--zero 2"},
                                                            {2, "--cp 2 --zero 3"}}),
                         [](const auto& chain) {
                           return fmt::format("{}_splits", chain.param.size());
                         });

// Starting weights that no step changes come back as the bytes they were: 1e-30 is far below the
// last place of any weight that a step of 1e-3 has moved.
TEST_F(Checkpoints, OfEverySplitHoldTheBytesThatOneRankWrites) {
  ASSERT_FALSE(
      answer(1, "--lr 1e-3 --batch 1 --global-batch 4 --steps 2 --out " + path("one")).is_null());
  const std::string start = path("one/step-00000002");
  const std::string weights = text_of(start + "/model.safetensors");
  ASSERT_GT(weights.size(), 4U * static_cast<std::size_t>(TinyModel{}.parameters()));
  for (const Leg& leg :
       {Leg{3, "--zero 1"}, Leg{4, "--zero 3"}, Leg{2, "--tp 2"}, Leg{4, "--tp 2 --pp 2"},
        Leg{2, "--pp 2 --vpp 2 --schedule interleaved"}}) {
    const std::string out = path("split");
    fs::remove_all(out);
    const Ended ended = run(on_ranks(
        leg.ranks, fmt::format("train {} --device none --threads 1 --precision fp32 --seq 32 "
                               "--held-out 0 --lr 1e-30 --weight-decay 0 --batch 1 "
                               "--global-batch 12 --steps 1 --out {} {}",
                               start, out, leg.split)));
    ASSERT_EQ(ended.code, 0) << leg.split << "\n" << ended.err;
    EXPECT_TRUE(text_of(out + "/step-00000001/model.safetensors") == weights) << leg.split;
  }
}

TEST_F(Checkpoints, OnTheSameRanksNoBitOfARunIsLost) {
  for (const char* split : {"--zero 1", "--tp 2 --sp on"}) {
    const auto options = [&](const char* out, int steps) {
      return fmt::format(
          "--lr 1e-3 --batch 1 --global-batch 4 {} --steps {} --resume auto --out {}", split, steps,
          path(out));
    };
    for (const char* out : {"whole", "halves"}) fs::remove_all(path(out));
    const json::Value whole = answer(2, options("whole", 4));
    ASSERT_FALSE(whole.is_null() || answer(2, options("halves", 2)).is_null());
    const json::Value second = answer(2, options("halves", 4));
    ASSERT_FALSE(second.is_null());
    const std::vector<double> losses = losses_of(whole);
    EXPECT_EQ(losses_of(second), std::vector<double>(losses.begin() + 2, losses.end())) << split;
    const std::string saved = path("whole/step-00000004");
    std::vector<std::string> files = state_files(saved);
    EXPECT_EQ(files.size(), 2U);
    files.push_back(saved + "/model.safetensors");
    for (const std::string& file : files) {
      const std::string name = fs::path(file).filename().string();
      const std::string bytes = text_of(file);
      EXPECT_FALSE(bytes.empty());
      EXPECT_TRUE(text_of(path("halves/step-00000004/") + name) == bytes) << split << " " << name;
    }
  }
}

}  // namespace
}  // namespace fourhold

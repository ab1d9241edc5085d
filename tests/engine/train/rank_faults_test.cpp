// Ranks that die, that see another folder or leave something out: nothing is marked complete that
// is not, and the checkpoint before stays whole.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/marker.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "fourhold/model/hf_config.h"
#include "tests/engine/train/simulated_ranks.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using model::TestFolder;
using testing::SimulatedRank;
using Barrier = std::function<void()>;

constexpr int kRanks = 3;
constexpr int kBarriers = 4;  // of a save

// GPT-2 on three ranks of ZeRO-2, which save a step into one folder.
class ThreeRanks {
 public:
  ThreeRanks() {
    plan_.profile = "fourhold";
    plan_.seq = 16;
    plan_.dp = kRanks;
    plan_.global_batch = kRanks;
    plan_.zero = 2;
    plan_.layers_per_stage = {2};
    const plan::Profile profile = plan::load_profile("fourhold");
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks_.push_back(std::make_unique<SimulatedRank>(config_, plan_, profile, rank));
      start_random(ranks_.back()->parameters(), config_, {});
    }
  }

  std::string save_rank(int rank, const std::string& folder, std::int64_t step,
                        const Barrier& barrier, const std::vector<ParameterTensors>& parameters) {
    RunState run;
    run.step = step;
    run.precision = "bf16";
    run.optimizer = "adamw";
    return save_checkpoint({.folder = folder, .who = {rank, kRanks}, .barrier = barrier}, step,
                           parameters, {.config = config_, .carried = {}, .run = run});
  }
  std::string save_rank(int rank, const std::string& folder, std::int64_t step,
                        const Barrier& barrier) {
    return save_rank(rank, folder, step, barrier, parameters(rank));
  }
  std::optional<std::string> save(const std::string& folder, std::int64_t step) {
    return testing::on_ranks(
        kRanks, [&](int rank, const Barrier& barrier) { save_rank(rank, folder, step, barrier); });
  }
  [[nodiscard]] const std::vector<ParameterTensors>& parameters(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)]->parameters();
  }

 private:
  model::ModelConfig config_ = model::read_hf_config(
      R"({"model_type": "gpt2", "vocab_size": 11, "n_embd": 8, "n_head": 2, "n_layer": 2,
          "n_positions": 32, "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0})",
      "tiny gpt2");
  plan::Plan plan_;
  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
};

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(RankFaults, ARankThatDiesAtAnyPointLeavesNoMarkerAndTheCheckpointBeforeWhole) {
  ThreeRanks run;
  for (int victim = 0; victim < kRanks; ++victim) {
    for (int meets = 0; meets + 1 < kBarriers; ++meets) {  // barriers it still comes to
      const TestFolder folder;
      ASSERT_EQ(run.save(folder.path(), 1), std::nullopt);
      const auto fault = testing::on_ranks(kRanks, [&](int rank, const Barrier& barrier) {
        int met = 0;
        run.save_rank(rank, folder.path(), 2, [&] {
          if (rank == victim && met++ == meets) throw Error("rank", "died", "");
          barrier();
        });
      });
      EXPECT_EQ(fault, "rank: died");
      // A rank that is still writing may leave its part of the folder that is removed meanwhile.
      for (const std::string& name : names_in(folder.path())) {
        EXPECT_TRUE(name == "step-00000001" || name == ".step-00000002.partial")
            << name << ", rank " << victim << " after " << meets;
      }
      EXPECT_EQ(latest_checkpoint(folder.path()).path, folder.path() + "/step-00000001");
      ASSERT_EQ(run.save(folder.path(), 2), std::nullopt);  // and the next save succeeds
      EXPECT_EQ(latest_checkpoint(folder.path()).path, folder.path() + "/step-00000002");
      EXPECT_EQ(names_in(folder.path()),
                (std::vector<std::string>{"step-00000001", "step-00000002"}));
    }
  }
}

TEST(RankFaults, AFileOfAllRanksThatIsCutShortIsRefusedWithItsByte) {
  ThreeRanks run;
  const TestFolder folder;
  ASSERT_EQ(run.save(folder.path(), 1), std::nullopt);
  const std::string path = folder.path() + "/step-00000001/model.safetensors";
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path));
  fs::resize_file(path, static_cast<std::uintmax_t>(bytes - 10));
  try {
    (void)open_checkpoint(folder.path() + "/step-00000001", Verify::sizes);
    FAIL() << "opened";
  } catch (const Error& fault) {
    EXPECT_EQ(fault.where(), path);
    EXPECT_EQ(std::string(fault.what()),
              fmt::format("byte {}: it is cut short here; the file was saved with {} bytes and has "
                          "{}",
                          bytes - 10, bytes, bytes - 10));
  }
}

TEST(RankFaults, AChangedByteOfAFileOfAllRanksIsFound) {
  ThreeRanks run;
  const TestFolder folder;
  ASSERT_EQ(run.save(folder.path(), 1), std::nullopt);
  const std::string step = folder.path() + "/step-00000001";
  EXPECT_NO_THROW((void)open_checkpoint(step, Verify::contents));
  {
    std::fstream file(step + "/model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
  }
  EXPECT_THROW((void)open_checkpoint(step, Verify::contents), Error);
}

TEST(RankFaults, ARankThatSeesAnotherFileSystemIsNamedByItsFolder) {
  ThreeRanks run;
  const TestFolder folder;
  for (const bool stale : {false, true}) {
    const std::string shared = folder.path() + (stale ? "/a" : "/b");
    const std::string other = folder.path() + "/other";
    if (stale) {  // what an older run of this step left on the other machine's disk
      fs::create_directories(other + "/.step-00000001.partial");
      std::ofstream(other + "/.step-00000001.partial/.saving") << "0123456789abcdef";
    }
    const auto fault = testing::on_ranks(kRanks, [&](int rank, const Barrier& barrier) {
      run.save_rank(rank, rank == 2 ? other : shared, 1, barrier);
    });
    ASSERT_TRUE(fault.has_value());
    EXPECT_TRUE(fault->starts_with(other)) << *fault;
    EXPECT_EQ(latest_checkpoint(shared).path, std::nullopt);
  }
}

TEST(RankFaults, WeightsThatNoRankSavesOrTwoSaveAreNoticed) {
  ThreeRanks run;
  for (const bool twice : {false, true}) {
    const TestFolder folder;
    const auto fault = testing::on_ranks(kRanks, [&](int rank, const Barrier& barrier) {
      std::vector<ParameterTensors> own = run.parameters(rank);
      if (rank == 1 && !twice) own.front().first_copy = false;
      if (rank == 1 && twice) own.front() = run.parameters(0).front();
      run.save_rank(rank, folder.path(), 1, barrier, own);
    });
    ASSERT_TRUE(fault.has_value());
    EXPECT_NE(fault->find("bytes of weights, the ranks have written"), std::string::npos) << *fault;
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace fourhold::engine

// Exporting a model under its published names streams: what its ranks allocate for it are windows,
// and all of them together are a small part of the model.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "fourhold/engine/checkpoint/checkpoint_save.h"
#include "fourhold/engine/checkpoint/published_writer.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/model/parameters.h"
#include "tests/engine/allocations/allocation_count.h"
#include "tests/engine/train/simulated_ranks.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using testing::AllocationCount;
using testing::SimulatedRank;

// Tables of 8,192 x 512 at both ends; four layers of 4 x 512 x 512 and 3 x 512 x 2,048; nine norms
// of 512.
constexpr const char* kConfig =
    R"({"model_type":"llama","vocab_size":8192,"hidden_size":512,"intermediate_size":2048,)"
    R"("num_hidden_layers":4,"num_attention_heads":8,"num_key_value_heads":8,)"
    R"("max_position_embeddings":128,"rms_norm_eps":1e-5,"tie_word_embeddings":false})";
constexpr std::int64_t kParameters =
    2 * 8192 * 512 + 4 * (4 * 512 * 512 + 3 * 512 * 2048) + 9 * 512;
constexpr int kRanks = 4;

std::vector<OwnedWeight> weights_of(const SimulatedRank& rank) {
  std::vector<OwnedWeight> weights;
  for (const ParameterTensors& each : rank.parameters()) {
    if (!each.first_copy || each.owned.elements() == 0) continue;
    weights.push_back({each.id, each.owned, each.weight});
  }
  return weights;
}

// Of all ranks together, from the first file's creation to the last sum.
AllocationCount count_of_export(const plan::Plan& plan, DType dtype, const std::string& folder) {
  const model::ModelConfig config = model::read_hf_config(kConfig, "small");
  const plan::Profile profile = plan::load_profile("fourhold");
  AllocationCount count;
  const auto fault = testing::on_ranks(kRanks, [&](int rank, const auto& barrier) {
    const SimulatedRank own(config, plan, profile, rank);
    const std::vector<OwnedWeight> weights = weights_of(own);
    barrier();
    if (rank == 0) testing::start_counting();
    std::optional<CheckpointSave> save;
    const auto begin = [&] {
      save.emplace(folder, 1, RankOf{rank, kRanks});
      save->lay_out_model(config, {.dtype = dtype, .max_shard_bytes = 40'000'000});
    };
    if (rank == 0) begin();
    barrier();
    if (rank != 0) begin();
    save->write_weights(weights);
    barrier();
    save->sum_weights();
    barrier();
    if (rank == 0) count = testing::stop_counting();
    save->close();
    barrier();
    if (rank == 0) save->publish(std::nullopt);
    barrier();
  });
  EXPECT_FALSE(fault.has_value()) << *fault;
  return count;
}

std::int64_t bytes_of_weights(const std::string& folder) {
  std::int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") {
      bytes += static_cast<std::int64_t>(entry.file_size());
    }
  }
  return bytes;
}

struct Case {
  const char* name;
  plan::Plan plan;
  DType stored;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class Export : public ::testing::TestWithParam<Case> {};

TEST_P(Export, AllocatesWindowsAndNeverTheModel) {
  const model::TestFolder folder;
  plan::Plan plan = GetParam().plan;
  plan.profile = "fourhold";
  plan.precision = plan::Precision::fp32;
  plan.seq = 16;
  plan.global_batch = plan.dp;
  const auto stages = static_cast<std::size_t>(plan.pp);
  plan.layers_per_stage.assign(stages, 4 / plan.pp);
  const AllocationCount count = count_of_export(plan, GetParam().stored, folder.path());
  const std::int64_t model_bytes = fourhold::bytes_of(kParameters, GetParam().stored);
  EXPECT_GE(bytes_of_weights(folder.path()), model_bytes);
  EXPECT_LE(count.largest, kWindowBytes);
  // Of each rank a window, what it reads to sum blocks of files, and names and places of tensors.
  constexpr std::int64_t kOfRank = kWindowBytes + (2 << 20);
  EXPECT_LE(count.bytes, kRanks * kOfRank);
  EXPECT_LE(kRanks * kOfRank, model_bytes / 2) << "or the bound says nothing";
  RecordProperty("largest", std::to_string(count.largest));
  RecordProperty("bytes", std::to_string(count.bytes));
}

INSTANTIATE_TEST_SUITE_P(Splits, Export,
                         ::testing::Values(Case{"zero_3", {.dp = 4, .zero = 3}, DType::fp32},
                                           Case{
                                               "zero_3_to_bf16", {.dp = 4, .zero = 3}, DType::bf16},
                                           Case{"tp_pp", {.tp = 2, .pp = 2}, DType::fp32}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/engine/checkpoint/published_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/model/config_difference.h"
#include "fourhold/model/load_model.h"
#include "tests/engine/checkpoint/tiny_models.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

using model::Block;
using model::ParameterId;
using model::TensorName;
using model::TestFolder;

constexpr std::int64_t kLargeShards = 5'000'000'000;

// Writes `weights` and expects to read each parameter's bytes back.
void expect_round_trip(const model::ModelConfig& config, DType dtype, std::int64_t shard_bytes) {
  const TestFolder folder;
  Weights weights(config, dtype);
  static_cast<void>(
      write_published(folder.path(), config, {dtype, shard_bytes}, weights.source(dtype)));
  const WeightFiles files(folder.path());
  EXPECT_EQ(files.notes(), std::vector<std::string>{});
  const PublishedWeights read(files.tensors(), config, files.path());
  EXPECT_EQ(read.notes(), std::vector<std::string>{});
  for (const model::PublishedPart& part : parts_of(config)) {
    std::vector<std::byte> bytes(weights.bytes(part.id).size());
    read.read(part.id, Tensor{bytes.data(), dtype, {part.size.elements()}});
    EXPECT_TRUE(bytes == weights.bytes(part.id)) << to_string(part.id);
  }
  EXPECT_EQ(model::config_differences(config, model::load_model(folder.path())),
            std::vector<std::string>{});
}

TEST(PublishedWriter, EveryFamilyReadsBackBitwise) {
  for (const auto& config : {tiny_gpt2(), tiny_llama(), tiny_qwen2(), tiny_qwen3()}) {
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      expect_round_trip(config, dtype, kLargeShards);
    }
  }
}

TEST(PublishedWriter, ShardsReadBackBitwise) {
  for (const std::int64_t bytes : {1, 100, 1000}) {
    expect_round_trip(tiny_gpt2(), DType::fp32, bytes);
    expect_round_trip(tiny_llama(), DType::bf16, bytes);
  }
}

// tiny llama: 10 x 8 embedding, 2 layers of 8x8 + 4x8 + 4x8 + 8x8 + 3 x 12x8 + 2 x 8, norm 8, head
// 10 x 8: 80 + 2 x 496 + 8 + 80 = 1160 values, 4640 bytes. 1 KiB takes 256 values.
TEST(PublishedWriter, AShardIsClosedBeforeItWouldGrowBeyondTheLimit) {
  const TestFolder folder;
  const model::ModelConfig config = tiny_llama();
  Weights weights(config, DType::fp32);
  const auto files =
      write_published(folder.path(), config, {DType::fp32, 1024}, weights.source(DType::fp32));
  std::int64_t data = 0;
  std::size_t shards = 0;
  for (const FileSum& file : files) {
    if (!file.name.ends_with(".safetensors")) continue;
    const auto header =
        model::read_checkpoint_header((std::filesystem::path(folder.path()) / file.name).string());
    EXPECT_LE(header.data_bytes, 1024);
    data += header.data_bytes;
    ++shards;
  }
  EXPECT_EQ(data, 4640);
  EXPECT_GE(shards, 5U);
  EXPECT_EQ(files.front().name, "model-00001-of-0000" + std::to_string(shards) + ".safetensors");
  const auto index = json::parse(
      read_text_file(folder.path() + "/model.safetensors.index.json", 1 << 20), "index");
  EXPECT_EQ(index.find("metadata")->find("total_size")->integer(), 4640);
}

std::string run_python_reader(const std::string& folder) {
  const std::string command = std::string("python3 '") + FOURHOLD_SOURCE_DIR +
                              "/tests/engine/checkpoint/read_safetensors.py' '" + folder + "' 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr) out += piece.data();
  return out;
}

// Line of a tensor in the oracle's output, split into words.
std::vector<std::string> line_of(const std::string& output, const std::string& name) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name + " ", 0) != 0) continue;
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

// What PyTorch's Conv1D multiplies is [in, out]: row i, column o of c_attn is row o, column i of q,
// k or v. Parameters of tiny gpt2, in order: wte, wpe, ln_1 x 2, q w/b, k w/b, v w/b: q is the 5th,
// v's weight the 9th (Weights: element e of the i-th is 1000 i + e).
TEST(PublishedWriter, AnIndependentReaderFindsEveryValueOfGpt2InItsPlace) {
  ASSERT_EQ(std::system("python3 -c ''"), 0) << "install python3 (scripts/packages-test.txt)";
  const TestFolder folder;
  const model::ModelConfig config = tiny_gpt2();
  Weights weights(config, DType::fp32);
  static_cast<void>(
      write_published(folder.path(), config, {DType::fp32, 700}, weights.source(DType::fp32)));
  const std::string output = run_python_reader(folder.path());
  const auto joined = line_of(output, "transformer.h.0.attn.c_attn.weight");
  ASSERT_EQ(joined.size(), 3U + 8 * 24) << output;
  EXPECT_EQ(joined[1], "F32");
  EXPECT_EQ(joined[2], "8x24");
  const auto parts = parts_of(config);
  const auto first_of = [&parts](const std::string& name) {
    const auto at = std::find_if(parts.begin(), parts.end(),
                                 [&](const auto& part) { return to_string(part.id) == name; });
    return 1000 * static_cast<int>(at - parts.begin());
  };
  EXPECT_EQ(first_of("layer.0.q_weight"), 4000);
  EXPECT_EQ(first_of("layer.0.v_weight"), 6000);
  for (int in = 0; in < 8; ++in) {
    for (int out = 0; out < 24; ++out) {
      const int value = first_of("layer.0.q_weight") + 1000 * (out / 8) + (out % 8) * 8 + in;
      EXPECT_EQ(joined[static_cast<std::size_t>(3 + in * 24 + out)], std::to_string(value));
    }
  }
  EXPECT_EQ(line_of(output, "transformer.wte.weight")[2], "11x8");
  EXPECT_EQ(line_of(output, "lm_head.weight").size(), 0U);
}

// bf16 keeps 8 significant bits: 0 to 79 are exact.
TEST(PublishedWriter, AnIndependentReaderFindsTheValuesOfQwenInBf16) {
  ASSERT_EQ(std::system("python3 -c ''"), 0) << "install python3 (scripts/packages-test.txt)";
  const TestFolder folder;
  const model::ModelConfig config = tiny_qwen3();
  Weights weights(config, DType::fp32);
  static_cast<void>(write_published(folder.path(), config, {DType::bf16, kLargeShards},
                                    weights.source(DType::bf16)));
  const std::string output = run_python_reader(folder.path());
  const auto table = line_of(output, "model.embed_tokens.weight");
  ASSERT_EQ(table.size(), 3U + 80) << output;
  EXPECT_EQ(table[1], "BF16");
  for (int i = 0; i < 80; ++i) EXPECT_EQ(table[static_cast<std::size_t>(3 + i)], std::to_string(i));
  EXPECT_EQ(line_of(output, "model.layers.1.self_attn.q_proj.weight")[2], "12x8");
  EXPECT_EQ(line_of(output, "model.layers.1.self_attn.k_norm.weight")[2], "6");
}

TEST(PublishedWriter, AFormatThatCannotBeWrittenIsRefused) {
  const TestFolder folder;
  const model::ModelConfig config = tiny_gpt2();
  Weights weights(config, DType::fp32);
  for (const WeightsFormat& format : {WeightsFormat{DType::fp16}, WeightsFormat{DType::fp32, 0}}) {
    EXPECT_THROW(static_cast<void>(
                     write_published(folder.path(), config, format, weights.source(format.dtype))),
                 Error);
  }
}

// A matrix above kWindowBytes is asked for in pieces, and pieces are turned one by one.
TEST(PublishedWriter, NoWindowIsLargerThanItsBound) {
  const TestFolder folder;
  const model::ModelConfig config = model::read_hf_config(
      R"({"model_type": "gpt2", "vocab_size": 3000, "n_embd": 1280, "n_head": 2, "n_layer": 1,
          "n_positions": 4})",
      "wide gpt2");
  std::int64_t largest = 0;
  // Element (r, c) is r + c / 4096 modulo 1: it depends on its place in the matrix alone.
  const auto value = [](std::int64_t r, std::int64_t c) {
    return static_cast<float>(r % 4096) + static_cast<float>(c) / 4096.0F;
  };
  const WeightSource source = [&](const model::PublishedPart&, const Window& window,
                                  std::byte* out) {
    largest = std::max(largest, 4 * window.rows() * window.columns());
    auto* values = reinterpret_cast<float*>(out);
    for (std::int64_t r = window.row_begin; r < window.row_end; ++r) {
      for (std::int64_t c = window.column_begin; c < window.column_end; ++c) {
        *values++ = value(r, c);
      }
    }
  };
  static_cast<void>(write_published(folder.path(), config, {DType::fp32, kLargeShards}, source));
  EXPECT_LE(largest, kWindowBytes);
  const WeightFiles files(folder.path());
  const PublishedWeights read(files.tensors(), config, files.path());
  for (const TensorName name : {TensorName::up_weight, TensorName::k_weight}) {
    const ParameterId id{Block::layer, 0, name};
    const model::MatrixSize size = read.size_of(id);
    for (const std::int64_t row : {std::int64_t{0}, size.rows / 2, size.rows - 1}) {
      std::vector<float> values(static_cast<std::size_t>(size.columns));
      const plan::Slice slice = plan::contiguous(row * size.columns, (row + 1) * size.columns);
      read.read(id, std::span(&slice, 1), DType::fp32, reinterpret_cast<std::byte*>(values.data()));
      for (std::int64_t c = 0; c < size.columns; ++c) {
        ASSERT_EQ(values[static_cast<std::size_t>(c)], value(row, c)) << row << ", " << c;
      }
    }
  }
}

}  // namespace
}  // namespace fourhold::engine

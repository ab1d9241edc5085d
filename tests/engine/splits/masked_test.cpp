// Tokens that are read but not learned may lie unevenly over ranks: the loss is the sum over the
// learned tokens of all ranks over their count, whatever each rank has of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fourhold/engine/data/byte_tokenizer.h"
#include "fourhold/engine/data/tokenize.h"
#include "tests/engine/splits/named_splits.h"
#include "tests/engine/splits/split_run.h"

namespace fourhold::engine::testing {
namespace {

namespace fs = std::filesystem;

// Prompts and answers of bytes; every third example has an answer of one byte, so that some
// sequences of 16 tokens have a single learned token and others many.
class MaskedText {
 public:
  MaskedText() {
    folder_ = (fs::temp_directory_path() / "fourhold-masked-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error(folder_);
    const std::string lines = folder_ + "/examples.jsonl";
    std::ofstream file(lines);
    for (int i = 0; i < 200; ++i) {
      const std::string prompt(static_cast<std::size_t>(2 + i % 9), static_cast<char>('a' + i % 7));
      const std::string answer(i % 3 == 0 ? 1U : 6U, static_cast<char>('k' + i % 5));
      file << R"({"prompt": ")" << prompt << R"(", "completion": ")" << answer << "\"}\n";
    }
    file.close();
    const std::string output = folder_ + "/tokens.bin";
    (void)data::tokenize({.inputs = {lines}, .output = output}, *data::make_byte_tokenizer());
    source_.emplace(data::open_tokens(output, {.model_vocabulary = 259}));
    dataset_.emplace(*source_, data::DatasetOptions{.length = 16, .seed = 5, .held_out_share = 0});
  }
  ~MaskedText() { fs::remove_all(folder_); }
  MaskedText(const MaskedText&) = delete;
  MaskedText& operator=(const MaskedText&) = delete;

  [[nodiscard]] const data::Dataset& dataset() const { return *dataset_; }

 private:
  std::string folder_;
  std::optional<data::TokenSource> source_;
  std::optional<data::Dataset> dataset_;
};

// How many tokens each of the first rows learns.
std::vector<std::int64_t> learned_of_rows(const data::Dataset& dataset, std::int64_t rows) {
  std::vector<std::int64_t> learned;
  std::vector<data::TokenId> ids(16);
  std::vector<data::TokenId> targets(16);
  for (std::int64_t row = 0; row < rows; ++row) {
    learned.push_back(dataset.fill({}, row, ids, targets));
  }
  return learned;
}

TEST(MaskedTokens, LieUnevenlyAndCountAsOnOneRank) {
  const MaskedText text;
  const std::vector<std::int64_t> learned = learned_of_rows(text.dataset(), 8);
  ASSERT_NE(*std::min_element(learned.begin(), learned.end()),
            *std::max_element(learned.begin(), learned.end()));
  for (const NamedSplit& split : std::vector<NamedSplit>{
           {"dp_4", {.dp = 4, .grad_accum = 2}},
           {"zero_3", {.dp = 4, .zero = 3, .grad_accum = 2}},
           {"cp_2", {.cp = 2, .grad_accum = 8}},
           {"tp_pp_dp", {.tp = 2, .pp = 2, .dp = 2, .zero = 1, .grad_accum = 4}},
           {"chunked", {.dp = 2, .zero = 2, .grad_accum = 4, .loss_chunk = 5}}}) {
    SCOPED_TRACE(split.name);
    const SplitSetup setup = split_setup(SmallModel::gpt2, split.plan);
    const SplitOutcome expected = train_split(on_one_rank(setup), text.dataset());
    const SplitOutcome found = train_split(setup, text.dataset());
    EXPECT_TRUE(found.faults.empty()) << found.faults.front();
    ASSERT_EQ(found.losses.size(), expected.losses.size());
    for (std::size_t i = 0; i < found.losses.size(); ++i) {
      EXPECT_NEAR(found.losses[i], expected.losses[i], 1e-5 * expected.losses[i]) << i;
    }
  }
}

}  // namespace
}  // namespace fourhold::engine::testing

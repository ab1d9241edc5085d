// `fourhold train` on several ranks of Open MPI, as a shell starts it, on a model of a moment.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/base/json.h"
#include "tests/engine/ranks/started_job.h"

namespace fourhold {

struct TinyModel {
  int layers = 4;
  int width = 64;
  int heads = 4;
  // Of GPT-2, by its published shape: four matrices of 12 width^2 in all, their biases and two
  // norms in each layer; embeddings, which the head shares; a norm.
  [[nodiscard]] std::int64_t parameters() const {
    const std::int64_t w = width;
    return (kVocabulary + kPositions) * w + layers * (12 * w * w + 13 * w) + 2 * w;
  }
  static constexpr int kVocabulary = 259;  // odd: shared by two ranks it is padded
  static constexpr int kPositions = 64;
};

class RanksProgram : public ::testing::Test {
 protected:
  RanksProgram();
  ~RanksProgram() override;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void use_model(const TinyModel& model) const;

  // What starts `fourhold VERB ...` on so many ranks; one is started without mpirun.
  [[nodiscard]] static std::string on_ranks(int ranks, const std::string& words);
  // `train --json` in fp32 without a measured speed; the model is the fixture's.
  [[nodiscard]] std::string train_words(const std::string& options) const;
  [[nodiscard]] std::string train_command(int ranks, const std::string& options) const {
    return on_ranks(ranks, train_words(options));
  }

  // Runs a command to its end; it has two minutes.
  [[nodiscard]] Ended run(const std::string& command) const;
  [[nodiscard]] Ended train(int ranks, const std::string& options) const {
    return run(train_command(ranks, options));
  }
  // The answer of a run that must succeed; null where it does not, which is then a failure.
  [[nodiscard]] json::Value answer(int ranks, const std::string& options) const;

 private:
  std::string folder_;
};

// The member behind that path of names; asserts that it is there.
[[nodiscard]] json::Value at(const json::Value& value, std::initializer_list<const char*> names);
[[nodiscard]] std::vector<double> losses_of(const json::Value& answer);
// Every loss within a share of the other's, and as many of them.
void expect_losses(const std::vector<double>& losses, const std::vector<double>& expected,
                   double tolerance);
// Every rank is listed and holds, entry by entry, what was predicted for it; bytes sent as well.
void expect_predicted_bytes(const json::Value& answer, int ranks);
[[nodiscard]] int times(const std::string& text, const std::string& part);
// Steps of a folder that have a complete checkpoint.
[[nodiscard]] std::vector<std::int64_t> complete_steps(const std::string& folder);

}  // namespace fourhold
